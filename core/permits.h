/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permits of a semaphore.
 */
#ifndef DLOCK_CORE_PERMITS_H
#define DLOCK_CORE_PERMITS_H

#include "core/lock.h"

/* What dlock_semaphore_permits() does. */
int dlki_permits(const dlock_lock *lock, struct dlock_permits *out,
		 int64_t timeout_ms, struct dlk_error *err);

/* What dlock_semaphore_resize() does. */
int dlki_permits_resize(const dlock_lock *lock, uint32_t permits,
			int64_t timeout_ms, struct dlk_error *err);

/* Can an acquire of `lock` want so many permits?  0: it names no number. */
int dlki_permits_check(const dlock_lock *lock, uint32_t permits,
		       struct dlk_error *err);

#endif
