/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of asynchronous calls. */
#ifndef DLOCK_TESTS_OUTCOME_H
#define DLOCK_TESTS_OUTCOME_H

#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>

struct outcome {
	atomic_int calls;      /* of the callback, counted last */
	int rc;
	dlock_hold *hold;
	dlock_client *client;
	int64_t at_ms;         /* now_ms() then */
	unsigned int order;    /* among all outcomes of this process, from 1 */
	pthread_t thread;      /* the callback's */
	char text[240];        /* the message */
};

/* A dlock_done_fn, with the outcome for the argument. */
void outcome_note(const struct dlock_result *result, void *outcome);

/* Has the functions below process the client, until outcomes_leave(). */
void outcomes_process(dlock_client *client);
void outcomes_leave(dlock_client *client);

/* Counts the callbacks of n calls. */
int outcomes_called(struct outcome *o, int n);

/* Begins calls, which must succeed. */
dlock_op ask_async(struct outcome *o, dlock_lock *lock, int64_t timeout_ms);
void give_async(struct outcome *o, dlock_hold *hold);

/* Waits for the callback; returns the code. */
int outcome_of(struct outcome *o);
int outcome_pending(struct outcome *o);

/* Waits for the callback of a granted call; returns the hold. */
dlock_hold *granted(struct outcome *o);

/* Waits for the callback, which has the code and no hold. */
void ended_with(struct outcome *o, int code);

/* Releases the hold by an asynchronous call, and waits for the callback. */
void given_back(dlock_hold *hold);

#endif
