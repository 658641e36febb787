/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim becomes a hold: of the thread that asked the store for it, or of
 * another thread of the client, which gets it without a request.
 *
 * All functions need the client's mu.
 */
#ifndef DLOCK_CORE_HOLD_H
#define DLOCK_CORE_HOLD_H

#include "core/claim.h"

/* ASKING or KEPT becomes HELD, with a promise until `end`. */
void dlki_hold_begin(struct dlki_claim *claim, dlk_time end);

/* Is there a token for its next hold? */
int dlki_hold_has_token(const struct dlki_claim *claim);

/* May its next hold come without a request?  Only with another token, and with
 * a quarter of the ttl left: until when is that? */
dlk_time dlki_hold_fits_until(const struct dlki_claim *claim);
int dlki_hold_fits(const struct dlki_claim *claim, dlk_time now);

/* Its next hold is that of `thread`, which asked at `asked_at` and is granted
 * it `now`.  Returns the end of its promise. */
dlk_time dlki_hold_next(struct dlki_claim *claim, uint64_t thread,
			dlk_time asked_at, dlk_time now);

#endif
