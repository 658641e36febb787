/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doing side of a party: takes orders from a socket until it closes.
 */
#ifndef DLOCK_TESTS_CONFORM_SEAT_H
#define DLOCK_TESTS_CONFORM_SEAT_H

#include "conform/party.h"

enum { MOST_HOLDS = 16 };

struct seat {
	int fd;
	int number;
	int own_client;
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *holds[MOST_HOLDS];
	int n_holds;
	struct arena *arena;
	const char *dir;
	atomic_int *losses;
};

/* Counts DLOCK_LOST in the atomic_int that is the client's `arg`. */
void seat_on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		   void *arg);

/* struct seat *; for pthread_create(). */
void *seat_run(void *seat);

#endif
