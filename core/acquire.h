/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE loop: ask, park, ask again, until granted, cancelled or out of time.
 */
#ifndef DLOCK_CORE_ACQUIRE_H
#define DLOCK_CORE_ACQUIRE_H

#include "core/lock.h"

struct dlki_wait {
	dlk_time begun;                 /* nothing was sent before that */
	dlk_time deadline;              /* the caller's */
	int once;                       /* timeout 0: ask once */
	const _Atomic uint64_t *cancels;/* the wait ends when this moves */
	uint64_t cancels_seen;
};

struct dlki_wait dlki_wait_new(const dlock_lock *lock, int64_t timeout_ms);

/* Take `lock`, which is not a multi-lock; `*out` is set on success only. */
int dlki_acquire(dlock_lock *lock, enum dlk_mode mode,
		 const struct dlki_wait *wait, dlock_hold **out,
		 struct dlk_error *err);

/* With mu held: may this thread release it?  0 or EINVAL. */
int dlki_may_release(const dlock_hold *hold, struct dlk_error *err);

/* Undo one acquire; returns what dlock_release() does.  The store is asked for
 * no longer than until `deadline`, nor than the URI's `close` time. */
int dlki_release(dlock_hold *hold, dlk_time deadline, struct dlk_error *err);

#endif
