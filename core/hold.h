/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim becomes a hold: of the thread that asked the store, or of another
 * thread of the client, without a request.
 *
 * All functions need the client's mu.
 */
#ifndef DLOCK_CORE_HOLD_H
#define DLOCK_CORE_HOLD_H

#include "core/claim.h"

/* ASKING or KEPT becomes HELD, with a promise until `end`. */
void dlki_hold_begin(struct dlki_claim *claim, dlk_time end);

/* Is there a token for the claim's next hold? */
int dlki_hold_has_token(const struct dlki_claim *claim);

/* Until when may the claim's next hold come without a request?  Only with
 * another token, and with a quarter of the ttl left. */
dlk_time dlki_hold_fits_until(const struct dlki_claim *claim);
int dlki_hold_fits(const struct dlki_claim *claim, dlk_time now);

/* Give the claim's next hold to `thread`, which asked at `asked_at` and is
 * granted the hold `now`.  Returns the end of the promise. */
dlk_time dlki_hold_next(struct dlki_claim *claim, uint64_t thread,
			dlk_time asked_at, dlk_time now);

/* Does the release of the hold wait: for an on_event about the hold; or, if it
 * is the last and the client is not closed, for the upgrades beside a read
 * side, or for a renewal that no thread waits for? */
bool dlki_hold_end_waits(const dlock_hold *hold, int last);

#endif
