/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquiring all members of a multi-lock: a thread waits for a member only
 * without other members.
 */
#ifndef DLOCK_CORE_MULTI_ACQUIRE_H
#define DLOCK_CORE_MULTI_ACQUIRE_H

#include "core/base/backoff.h"
#include "core/multi_hold.h"

/* Acquire the multi-lock `lock`: 0 and `*out`; or an error code, without a
 * member. */
int dlki_multi_acquire(dlock_lock *lock, struct dlki_wait *wait,
		       dlock_hold **out, struct dlk_error *err);

/* ---- Common with asynchronous calls -------------------------------------- */

/* The wait of a try, as a part of `wait`. */
struct dlki_wait dlki_multi_try(const struct dlki_wait *wait);

/* Return until when to pause without members, before the next wait for a busy
 * member.  The tries of the other members began at `tried_at`. */
dlk_time dlki_multi_pause(struct dlki_backoff *pauses, struct dlock_client *c,
			  dlk_time tried_at, dlk_time most);

/* Can holds of all members have these, or NULL? */
int dlki_multi_terms_check(const struct dlki_multi *multi,
			   const struct dlki_terms *terms,
			   struct dlk_error *err);

/* 0, or ECANCELED. */
int dlki_multi_cancelled(struct dlki_wait *wait, struct dlk_error *err);

/* All members are there.  0, or ELOST: a member was lost meanwhile. */
int dlki_multi_complete(const struct dlki_multi_hold *m, struct dlk_error *err);

#endif
