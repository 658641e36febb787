/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of any server of the lab. */
#include "chaos/chaos.h"

static int pause_it(struct chaos *c)
{
	return lab_server_pause(c->server);
}

static int resume_it(struct chaos *c)
{
	return lab_server_resume(c->server);
}

static int kill_it(struct chaos *c)
{
	return lab_server_kill(c->server);
}

static int restart_it(struct chaos *c)
{
	return lab_server_restart(c->server, true);
}

const struct chaos_fault chaos_server_pauses[] = {
	CHAOS_FAULT("server-pause-short", CHAOS_SERVER, 2, 10, 80,
		    .begin = pause_it, .end = resume_it),
	CHAOS_FAULT("server-pause-long", CHAOS_SERVER, 2, 120, 250,
		    .begin = pause_it, .end = resume_it),
	CHAOS_NO_FAULT
};

const struct chaos_fault chaos_server_kill[] = {
	/* Acknowledged writes survive, by the options of the store's server. */
	CHAOS_FAULT("server-kill", CHAOS_SERVER, 2, 0, 150, .begin = kill_it,
		    .end = restart_it),
	CHAOS_NO_FAULT
};
