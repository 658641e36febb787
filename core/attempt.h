/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt: a request to the store for a claim, and what its answer means.
 */
#ifndef DLOCK_CORE_ATTEMPT_H
#define DLOCK_CORE_ATTEMPT_H

#include "core/claim.h"

/* The result of an attempt, beside the error codes, which are negative.
 * TOO_LATE: a grant with too little of its lease left. */
enum { DLKI_GRANTED = 0, DLKI_TOO_LATE = 1 };

/* Ask the store once, from `now` until `limit`.  If a clean-up of this client
 * is in the way, that is released first.  DLKI_GRANTED: the call has all that
 * it needs of the client.  DLKI_TOO_LATE, EBUSY, or what failed. */
int dlki_attempt(struct dlki_claim *claim, dlk_time now, dlk_time limit,
		 struct dlk_error *err);

#endif
