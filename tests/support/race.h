/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of stages in which calls race, and the count of wrong results.
 */
#ifndef DLOCK_TESTS_RACE_H
#define DLOCK_TESTS_RACE_H

#include <dlock/dlock.h>
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

/* By chance, loses the claim `id` or all claims, or loses an answer. */
void race_harm(struct fake *fake, uint64_t id, unsigned int *seed);

/* Starts a thread, or ends the program. */
void race_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
