/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of stages in which threads and calls race, and the count of wrong
 * results.
 */
#ifndef DLOCK_TESTS_RACE_H
#define DLOCK_TESTS_RACE_H

#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "fake.h"

/* The time of a stage. */
extern int64_t race_ms;

/* Reads the seconds of a stage from the arguments, and registers the fake
 * store. Returns an error if that fails. */
int race_begin(int argc, char **argv);

/* Checks the rules of backend.h and prints the sum; returns main()'s code. */
int race_end(void);

/* Counts a result of the stage `name`. */
void race_check(int good, const char *name, const char *what);

/* Counts an unexpected return code, and prints the first. */
void race_wrong(atomic_ulong *count, const char *name, const char *call,
		int rc);

/* Tells whether an acquire may end with `rc`. */
int race_may_end(int rc);

unsigned int race_draw(unsigned int *seed, unsigned int below);

/* By chance, loses the claim `id` or all claims, with or without a message, or
 * an answer; `passes`: the client passes claims on. */
void race_harm(struct fake *fake, uint64_t id, int passes, unsigned int *seed);

/* Calls that end in a callback, and begin and end in any thread. */
struct race_calls {
	const char *name; /* of the stage */
	/* Told of a grant for lock `i` before the release, or NULL. */
	void (*granted)(dlock_hold *hold, unsigned int i, void *arg);
	void *arg;
	atomic_int in_callback; /* threads there: one at most */
	atomic_int pending;     /* acquires and releases under way */
	atomic_ulong asked, told, wrong;
};

/* Begins an acquire of the unbound lock `i`, and cancels it by chance.  The
 * callback releases the hold. */
void race_call(struct race_calls *c, dlock_client *client, dlock_lock *lock,
	       unsigned int i, unsigned int *seed);

/* Processes until `stop` is set and no call is pending: every other thread by
 * the descriptor, the others by dlock_wait(). */
void race_process(struct race_calls *c, dlock_client *client,
		  const atomic_int *stop);

/* Starts a thread, or ends the program. */
void race_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
