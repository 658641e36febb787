/* SPDX-License-Identifier: Apache-2.0 */
/* How often a lock is held: what dlock_lock_held() returns, or an error. */
#ifndef DLOCK_CORE_HELD_H
#define DLOCK_CORE_HELD_H

#include "core/lock.h"

/* Of a handle that is not a multi-lock; of a multi-lock. */
int dlki_held(const dlock_lock *lock, struct dlk_error *err);
int dlki_multi_held(const struct dlki_multi *multi, struct dlk_error *err);

#endif
