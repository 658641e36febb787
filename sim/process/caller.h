/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a simulated process that take locks as chance says. */
#ifndef DLOCK_SIM_PROCESS_CALLER_H
#define DLOCK_SIM_PROCESS_CALLER_H

#include <dlock/dlock.h>
#include <pthread.h>

#include "sim/base/chance.h"
#include "sim/process/judge.h"
#include "sim/process/terms.h"

enum { SIM_NAMES = 3, SIM_CALLERS = 5, SIM_CLIENTS = 3 };

/* The handles of a client.  The callers of the client share these. */
struct sim_handles {
	dlock_lock *lock[SIM_NAMES];
	dlock_lock *loose[SIM_NAMES];       /* unbound */
	dlock_lock *reading[SIM_NAMES];     /* of the read side; or NULL */
	dlock_lock *upgradeable[SIM_NAMES]; /* or NULL */
	dlock_lock *loose_upgradeable[SIM_NAMES]; /* or NULL */
};

/* A thread that processes a client without threads. */
struct sim_attending {
	pthread_t thread;
	dlock_client *client; /* NULL: there is no such thread */
	int ticks;            /* the thread asks at each tick, and polls not */
	int ends;
};

struct sim_play {
	struct sim_chance *chance;
	struct sim_name names[SIM_NAMES];
	size_t n_names;
	dlock_client *client[SIM_CLIENTS + 1]; /* the last is a stranger's */
	struct sim_attending attending[SIM_CLIENTS + 1];
	struct sim_handles handles[SIM_CLIENTS];
	size_t n_clients;
	struct sim_terms terms;
	size_t closing; /* the client, once the close has begun */
	int64_t visited_at; /* when the last client of a visit closed */
	int close_has_begun;
};

struct sim_caller {
	struct sim_play *play;
	int number;
	size_t client;
	pthread_t thread;
	int steps;
	int waits; /* in an acquire without a timeout */
	int over;  /* after the last step */
};

void *sim_caller_run(void *caller);

#endif
