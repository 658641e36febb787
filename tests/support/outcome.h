/* SPDX-License-Identifier: Apache-2.0 */
/* How a call ended. */
#ifndef DLOCK_TESTS_OUTCOME_H
#define DLOCK_TESTS_OUTCOME_H

#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>

struct outcome {
	atomic_int calls;      /* of its callback, counted last */
	int rc;
	dlock_hold *hold;
	int64_t at_ms;         /* now_ms() then */
	unsigned int order;    /* among all outcomes of this process */
	pthread_t thread;      /* that called */
	char text[240];        /* dlock_errmsg(), if rc < 0 */
};

/* A dlock_done_fn, with the outcome for its argument. */
void outcome_note(int rc, dlock_hold *hold, void *outcome);

/* Asynchronous calls that must be made. */
void ask_async(struct outcome *o, dlock_lock *lock, int64_t timeout_ms);
void read_async(struct outcome *o, dlock_lock *lock, int64_t timeout_ms);
dlock_async *begin_async(struct outcome *o, dlock_lock *lock,
			 int64_t timeout_ms);
void give_async(struct outcome *o, dlock_hold *hold);

/* Wait for its callback: what that was told. */
int outcome_of(struct outcome *o);
int outcome_pending(struct outcome *o);

#endif
