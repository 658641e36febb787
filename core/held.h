/* SPDX-License-Identifier: Apache-2.0 */
/* Count the holds of a lock, as dlock_lock_held() does, or return an error. */
#ifndef DLOCK_CORE_HELD_H
#define DLOCK_CORE_HELD_H

#include "core/lock.h"

/* Of a single lock; of a multi-lock. */
int dlki_held(const dlock_lock *lock, struct dlk_error *err);
int dlki_multi_held(const struct dlki_multi *multi, struct dlk_error *err);

#endif
