/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attempt: a request to the store for a claim, and the meaning of the
 * answer.
 */
#ifndef DLOCK_CORE_ATTEMPT_H
#define DLOCK_CORE_ATTEMPT_H

#include "core/claim.h"

/* The result of an attempt, beside the error codes, which are negative.
 * TOO_LATE: a grant with too little of the lease left. */
enum { DLKI_GRANTED = 0, DLKI_TOO_LATE = 1 };

/* Ask the store once, from `now` until `limit`.  If a clean-up of this client
 * is in the way, it is released first.  DLKI_GRANTED: the call needs no more of
 * the client.  DLKI_TOO_LATE, EBUSY, or the error. */
int dlki_attempt(struct dlki_claim *claim, dlk_time now, dlk_time limit,
		 struct dlk_error *err);

#endif
