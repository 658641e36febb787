/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept claims: with `keep` in the URI, a released mutex or write side stays
 * this client's for so long, without a holder, and is taken again without a
 * request.  A kept claim is a clean-up due later: the client releases it when
 * the time is over, when another session wants it, or when the client itself
 * asks the store for the lock, as a reader does.
 *
 * A kept claim is not renewed, and is of no use with less than a quarter of the
 * ttl left on the lease.
 *
 * All functions but the last need the client's mu.
 */
#ifndef DLOCK_CORE_KEEP_H
#define DLOCK_CORE_KEEP_H

#include "core/claim.h"

/* The last hold of the claim has ended, and keep_ms is not 0: keep the claim?
 * May have the store watch it, until `deadline`, and releases mu meanwhile.  1:
 * the claim is KEPT. */
int dlki_keep(struct dlki_claim *claim, dlk_time deadline);

/* Retake the record's kept claim for `thread`; NULL: no kept claim, or of no
 * use any more. */
struct dlki_claim *dlki_keep_take(struct dlki_record *record, uint64_t thread,
				  dlk_time asked_at);

/* How long the listening thread may take to give a kept claim back: the thread
 * has all other clients to listen for. */
#define DLKI_GIVE_UP_NS (20 * DLK_MS)

/* Without mu, for dlock-loop: give back the kept claim just heard to be wanted,
 * if there is one.  Waits for no answer if the store can do without. */
void dlki_keep_give_up(struct dlock_client *client);

#endif
