/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's world in a simulation: core/world/world.h on a virtual clock and
 * on the connections of a struct sim_net.  wait() never waits: who runs the
 * simulation lets the time go on, and calls a turn when something is due.
 * await() does wait: the rest of the simulation goes on inside.
 * There are no descriptors of libraries: watch() says ENOTSUP.
 */
#ifndef DLOCK_SIM_WORLD_H
#define DLOCK_SIM_WORLD_H

#include "sim/world/net.h"

struct sim_world {
	struct dlki_world base;
	struct sim_net *net;
	int64_t offset_ns; /* the client's clock at the true time 0 */
	int64_t drift_ppm;
	int64_t slept_ns;  /* between a write and the end of the turn */
	int64_t resumed_at; /* until then it stood still: true time */
	int is_dead;       /* its process was killed */
	int kicked[DLKI_SETS];
	int64_t answer_at; /* of a look-up, in true time; SIM_NEVER: there is
			    * none, or the client was told */
	int is_asked;
	struct sim_chance bytes;
	uint64_t last_id;  /* that an attempt was given */
	int has_work;      /* the last wait() brought events, or was not to
			    * wait at all */
};

/* `number` tells its random bytes from the bytes of others; they are not drawn,
 * so that a log with fewer faults makes no two alike. */
void sim_world_begin(struct sim_world *w, struct sim_net *net, uint64_t number);

/* The true time at which the client's clock shows `at`; SIM_NEVER. */
int64_t sim_world_true(const struct sim_world *w, dlk_time at);

/* Whether wait() in these sets would have an event. */
int sim_world_has_events(const struct sim_world *w, unsigned int sets);

/* A thread of the client is in await(). */
int sim_world_awaits(const struct sim_world *w);

/* Bytes, or the end of a stream, of which the client was told and which it has
 * not read: no other edge will tell.  Returns the connection's number; -1. */
int sim_world_unread(const struct sim_world *w);

/* The client's process is killed: its sockets are closed, and what it does from
 * now on, nobody sees. */
void sim_world_kill(struct sim_world *w);

#endif
