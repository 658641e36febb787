/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waiters of a drive, and the conditions on which followers sleep.  All
 * under the engine's mutex.
 */
#ifndef DLOCK_CORE_LOOP_WAITERS_H
#define DLOCK_CORE_LOOP_WAITERS_H

#include <pthread.h>

#include "core/loop/drive.h"
#include "core/loop/state.h"

/* A bit each in the engine's `due`. */
enum { DLKI_CONDS = 64 };

struct dlki_waiters {
	TAILQ_HEAD(, dlki_waiter) all;
	pthread_cond_t conds[DLKI_CONDS];
	unsigned int asleep[DLKI_CONDS]; /* threads on each */
	unsigned int shared;             /* the next to share */
};

void dlki_waiters_init(struct dlki_waiters *all);
void dlki_waiters_destroy(struct dlki_waiters *all);

/* Sleep until the waiter is woken, or `until`; also wakes early.  The mutex is
 * released meanwhile. */
void dlki_waiters_sleep(struct dlki_engine *e, struct dlki_waiters *all,
			struct dlki_waiter *w, dlk_time until);

/* End the sleep of the waiter, if asleep: dlki_unlock() signals. */
void dlki_waiters_wake(struct dlki_engine *e, struct dlki_waiter *w);

/* Signal the conditions of these bits. */
void dlki_waiters_signal(struct dlki_waiters *all, uint64_t conds);

#endif
