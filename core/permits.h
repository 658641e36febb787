/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permits of a semaphore.
 */
#ifndef DLOCK_CORE_PERMITS_H
#define DLOCK_CORE_PERMITS_H

#include "core/lock.h"

/* Can an acquire of `lock` want so many permits?  0: no number given. */
int dlki_permits_check(const dlock_lock *lock, uint32_t permits,
		       struct dlk_error *err);

#endif
