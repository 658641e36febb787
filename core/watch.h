/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch on a claim: whether another session asks for what it excludes.
 * While none does, the client may go on using the claim for its own threads.
 *
 * The store tells of it (dlk_wanted()), and sets tokens aside for the holds to
 * come.  In case a message is lost, the store is asked anew at times.
 *
 * All functions need the client's mu.
 */
#ifndef DLOCK_CORE_WATCH_H
#define DLOCK_CORE_WATCH_H

#include "core/claim.h"

/* May the claim be passed or kept at all?  That of a mutex or a write side,
 * without terms, while it is HELD, in a store that can tell. */
int dlki_watch_allows(const struct dlki_claim *claim);

/* See to it that the store watches the claim: ask it, unless it does so and has
 * set tokens aside.  Releases mu meanwhile.  0: it is watched now; -1: it is
 * not, and right after another session has asked the store is not troubled. */
int dlki_watch_refresh(struct dlki_claim *claim, dlk_time deadline);

/* The holder is to be told when others want the claim: ask the store anew.
 * Releases mu meanwhile. */
int dlki_watch_revocable(struct dlki_claim *claim, dlk_time deadline,
			 struct dlk_error *err);

/* Tell the holder, if it wants to know. */
void dlki_watch_tell(struct dlki_claim *claim);

/* Somebody revokes the lock: the same for the holders of this client; and what
 * it keeps is given up. */
void dlki_watch_revoke(struct dlki_record *record);

/* If another thread has the store watch the claim, wait for that. */
void dlki_watch_settle(struct dlki_claim *claim, dlk_time deadline);

#endif
