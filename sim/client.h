/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the simulation: a world, an engine with a protocol, and callers.
 * A killed client begins again after a while, as another life.
 */
#ifndef DLOCK_SIM_CLIENT_H
#define DLOCK_SIM_CLIENT_H

#include "sim/caller.h"

enum { SIM_CLIENT_CALLERS = 3, SIM_CLIENTS = SIM_CALLERS / SIM_CLIENT_CALLERS };

struct sim_client {
	struct sim_net *net;
	struct sim_judge *judge;
	const struct dlki_protocol *protocol;
	const struct dlk_uri *uri;
	int number;              /* from 0 */
	unsigned int life;
	struct sim_world world;
	struct dlki_engine *engine; /* NULL: dead until `paused_until` */
	struct dlki_agreed agreed;
	int was_up;              /* in this life */
	int is_refused;          /* by the server: begins another life */
	struct sim_caller callers[SIM_CLIENT_CALLERS];
	int64_t paused_until;
};

/* Begin a life. */
void sim_client_begin(struct sim_client *c);

/* The process is killed: ops under way end, unheard. */
void sim_client_kill(struct sim_client *c);

/* Return when the client is due; not before `paused_until`. */
int64_t sim_client_due(const struct sim_client *c);

/* Run turns, and draw the faults of a client. */
void sim_client_run(struct sim_client *c);

/* The weather is over: holds are released. */
void sim_client_heal(struct sim_client *c);

/* Do all callers rest? */
int sim_client_rests(const struct sim_client *c);

#endif
