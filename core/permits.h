/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permits of a semaphore.
 */
#ifndef DLOCK_CORE_PERMITS_H
#define DLOCK_CORE_PERMITS_H

#include "core/lock.h"

/* As dlock_semaphore_permits(). */
int dlki_permits(const dlock_lock *lock, struct dlock_permits *out,
		 int64_t timeout_ms, struct dlk_error *err);

/* As dlock_semaphore_resize(). */
int dlki_permits_resize(const dlock_lock *lock, uint32_t permits,
			int64_t timeout_ms, struct dlk_error *err);

/* Can an acquire of `lock` want so many permits?  0: no number given. */
int dlki_permits_check(const dlock_lock *lock, uint32_t permits,
		       struct dlk_error *err);

#endif
