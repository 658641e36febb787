/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE loop: ask, park, ask again, until granted, cancelled or out of time.
 */
#ifndef DLOCK_CORE_ACQUIRE_H
#define DLOCK_CORE_ACQUIRE_H

#include "core/wait.h"

/* Take `lock`, which is not a multi-lock; `*out` is set on success only. */
int dlki_acquire(dlock_lock *lock, enum dlk_mode mode, struct dlki_wait *wait,
		 dlock_hold **out, struct dlk_error *err);

#endif
