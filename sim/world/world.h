/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's world in a simulation: core/world/world.h on a virtual clock and
 * on the connections of a struct sim_net.  wait() never waits: the owner of the
 * simulation lets the time go on, and calls a turn when an event is due.
 * await() does wait: the rest of the simulation goes on inside.
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
	int64_t resumed_at; /* the process stood still until then: true time */
	int is_dead;       /* the process was killed */
	int kicked[DLKI_SETS];
	int64_t answer_at; /* of a look-up, in true time; SIM_NEVER: no look-up,
			    * or the client was told */
	int is_asked;
	struct sim_chance bytes;
	uint64_t last_id;  /* the last attempt's */
	int is_answered;   /* bytes came from a server; the first ... */
	struct sim_server *behind; /* ... from a server behind a long stop, so
			    * promptly that no client could know; or NULL */
	int64_t stopped_at; /* ... that stop */
	int has_work;      /* the last wait() brought events, or was not to
			    * wait at all */
};

/* Begin a world.  `number` tells the random bytes from those of other clients;
 * the bytes are not drawn, so that a log with fewer faults makes no two
 * alike. */
void sim_world_begin(struct sim_world *w, struct sim_net *net, uint64_t number);

/* The true time at which the client's clock shows `at`; SIM_NEVER. */
int64_t sim_world_true(const struct sim_world *w, dlk_time at);

/* Whether wait() in these sets would have an event. */
int sim_world_has_events(const struct sim_world *w, unsigned int sets);

/* Whether the client could not know, at a true time, that the server had been
 * stopped: see "A stopped server" in docs/memcached.md. */
int sim_world_is_misled(const struct sim_world *w, int64_t at);

/* A thread of the client is in await(). */
int sim_world_awaits(const struct sim_world *w);

/* Return the number of a connection with bytes, or the end of a stream, that
 * the client was told of and has not read: no other edge will tell.  Or -1. */
int sim_world_unread(const struct sim_world *w);

/* Kill the client's process: the sockets are closed, and later steps have no
 * effect on others. */
void sim_world_kill(struct sim_world *w);

#endif
