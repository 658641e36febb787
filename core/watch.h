/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch on a claim: whether another session asks for a claim that this
 * claim excludes.  Until a session asks, the client may go on using the claim
 * for the client's threads.
 *
 * The store tells of requests (dlk_wanted()), and sets tokens aside for the
 * holds to come.  In case a message is lost, the client asks the store anew at
 * times.
 *
 * All functions need the client's mu.
 */
#ifndef DLOCK_CORE_WATCH_H
#define DLOCK_CORE_WATCH_H

#include "core/claim.h"

/* May the claim be passed or kept at all?  The claim of a mutex or a write
 * side, without terms, while HELD with a promise, in a store that can tell. */
int dlki_watch_allows(const struct dlki_claim *claim);

/* How far is the watch? */
enum dlki_watching dlki_watch_state(const struct dlki_claim *claim);

/* Have the store watch the claim: ask the store, unless it watches already and
 * has set tokens aside.  Releases mu meanwhile.  0: the claim is watched now;
 * -1: not watched, and right after a request of another session the store is
 * not troubled. */
int dlki_watch_refresh(struct dlki_claim *claim, dlk_time deadline);

/* The holder is to be told when others want the claim, or of a permit, when a
 * client revokes the semaphore: ask the store anew.  Releases mu meanwhile. */
int dlki_watch_revocable(struct dlki_claim *claim, dlk_time deadline,
			 struct dlk_error *err);

/* A client revokes the lock: the same for the holders of this client; and a
 * kept claim is given up. */
void dlki_watch_revoke(struct dlki_record *record);

/* Does a watch use the ticket, and may a renewal come beside it? */
bool dlki_watch_is_shared(const struct dlki_claim *claim);

/* If another thread has the store watch the claim, wait for that thread. */
void dlki_watch_settle(struct dlki_claim *claim, dlk_time deadline);

#endif
