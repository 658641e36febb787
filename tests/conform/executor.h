/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execute a worker's orders in the worker's thread or process, from a socket
 * until the socket is closed.
 */
#ifndef DLOCK_TESTS_CONFORM_EXECUTOR_H
#define DLOCK_TESTS_CONFORM_EXECUTOR_H

#include "conform/worker.h"

enum { MOST_HOLDS = 16 };

struct executor {
	int fd;
	int number;
	dlock_client *client;
	dlock_lock *lock;
	dlock_lock *upgradeable; /* of `lock`; NULL until used */
	dlock_hold *holds[MOST_HOLDS];
	int n_holds;
	struct arena *arena;
	const char *dir;
	atomic_int *losses;
};

/* Count DLOCK_LOST in the atomic_int that is the client's `arg`. */
void executor_on_event(dlock_hold *hold, enum dlock_event event,
		       const char *why, void *arg);

/* Thread start function; the argument is a struct executor *. */
void *executor_run(void *executor);

#endif
