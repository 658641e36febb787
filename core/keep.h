/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept claims: with `keep` in the URI, a released mutex or write side stays
 * this client's for so long, though nobody holds it, and is taken again without
 * a request.  It is a clean-up that is due later: it is released when the time
 * is over, when another session wants it, or when the client itself asks the
 * store for the lock, as a reader does.
 *
 * A kept claim is not renewed.  It is of no use once there is less than a
 * quarter of the ttl left of its lease.
 *
 * All functions but the last need the client's mu.
 */
#ifndef DLOCK_CORE_KEEP_H
#define DLOCK_CORE_KEEP_H

#include "core/claim.h"

/* The last hold of the claim has ended: keep it?  May have the store watch it,
 * until `deadline`, and releases mu meanwhile.  1: it is KEPT. */
int dlki_keep(struct dlki_claim *claim, dlk_time deadline);

/* The record's kept claim, held by `thread` now; NULL: there is none, or it is
 * of no use any more. */
struct dlki_claim *dlki_keep_take(struct dlki_record *record, uint64_t thread,
				  dlk_time asked_at);

/* How long the thread that has heard of it may take to give a kept claim back:
 * it has all other clients to hear for. */
#define DLKI_GIVE_UP_NS (20 * DLK_MS)

/* Without mu, for dlock-loop: give back the kept claim that it has just heard
 * to be wanted, if there is one.  It waits for no answer if the store can do
 * without. */
void dlki_keep_give_up(struct dlock_client *client);

#endif
