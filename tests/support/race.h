/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that lets calls race, stage by stage, and counts what was found.
 */
#ifndef DLOCK_TESTS_RACE_H
#define DLOCK_TESTS_RACE_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* How long a stage takes. */
extern int64_t race_ms;

/* Take the seconds of a stage from the arguments, and make the fake store
 * known; not 0: it cannot be. */
int race_begin(int argc, char **argv);

/* Look for a rule of backend.h that was broken, and sum up; main()'s code. */
int race_end(void);

/* One result, of the stage `name`. */
void race_check(int good, const char *name, const char *what);

/* Count an answer that there is no reason for, and print the first. */
void race_wrong(atomic_ulong *count, const char *name, const char *call,
		int rc);

/* May an acquire end so? */
int race_may_end(int rc);

unsigned int race_draw(unsigned int *seed, unsigned int below);

/* A thread, or the end of the program. */
void race_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
