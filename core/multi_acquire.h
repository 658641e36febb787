/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquiring all members of a multi-lock: a thread that waits for a member holds
 * no other member.
 */
#ifndef DLOCK_CORE_MULTI_ACQUIRE_H
#define DLOCK_CORE_MULTI_ACQUIRE_H

#include "core/acquire.h"

/* Acquire the multi-lock `lock`: 0 and `*out`; or an error code, without a
 * member. */
int dlki_multi_acquire(dlock_lock *lock, struct dlki_wait *wait,
		       dlock_hold **out, struct dlk_error *err);

#endif
