/* SPDX-License-Identifier: Apache-2.0 */
/* How an operation ended. */
#ifndef DLOCK_TESTS_OUTCOME_H
#define DLOCK_TESTS_OUTCOME_H

#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>

struct outcome {
	atomic_int calls;      /* of its callback, counted last */
	int rc;
	dlock_hold *hold;
	dlock_client *client;
	int64_t at_ms;         /* now_ms() then */
	unsigned int order;    /* among all outcomes of this process, from 1 */
	pthread_t thread;      /* that called */
	char text[240];        /* the message */
};

/* A dlock_done_fn, with the outcome for its argument. */
void outcome_note(const struct dlock_result *result, void *outcome);

/* The functions below process these clients, until they are left alone. */
void outcomes_process(dlock_client *client);
void outcomes_leave(dlock_client *client);

/* How many callbacks came, of n operations. */
int outcomes_called(struct outcome *o, int n);

/* Operations that must begin. */
dlock_op ask_async(struct outcome *o, dlock_lock *lock, int64_t timeout_ms);
void give_async(struct outcome *o, dlock_hold *hold);

/* Wait for its callback: the code. */
int outcome_of(struct outcome *o);
int outcome_pending(struct outcome *o);

#endif
