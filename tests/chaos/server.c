/* SPDX-License-Identifier: Apache-2.0 */
/* What may befall any server of the lab. */
#include "chaos/chaos.h"

static int pause_it(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	return lab_server_pause(c->server);
}

static int resume_it(struct chaos *c)
{
	return lab_server_resume(c->server);
}

static int kill_it(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	return lab_server_kill(c->server);
}

static int restart_it(struct chaos *c)
{
	return lab_server_restart(c->server, true);
}

static int wipe_it(struct chaos *c, struct chaos_draw *d)
{
	chaos_wipe_begin(c);
	return kill_it(c, d);
}

static int restart_empty(struct chaos *c)
{
	if (lab_server_restart(c->server, false) < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

const struct chaos_fault chaos_server_pause_short = {
	.name = "server-pause-short",
	.lane = CHAOS_SERVER,
	.weight = 2,
	.min_pc = 10,
	.max_pc = 80,
	.begin = pause_it,
	.end = resume_it,
};

const struct chaos_fault chaos_server_pause_long = {
	.name = "server-pause-long",
	.lane = CHAOS_SERVER,
	.weight = 2,
	.min_pc = 120,
	.max_pc = 250,
	.begin = pause_it,
	.end = resume_it,
};

/* What was acknowledged must survive: the store's way of starting the server
 * sees to that. */
const struct chaos_fault chaos_server_kill = {
	.name = "server-kill",
	.lane = CHAOS_SERVER,
	.weight = 2,
	.min_pc = 0,
	.max_pc = 150,
	.begin = kill_it,
	.end = restart_it,
};

const struct chaos_fault chaos_server_empty = {
	.name = "server-empty",
	.lane = CHAOS_SERVER,
	.weight = 2,
	.min_pc = 0,
	.max_pc = 60,
	.begin = wipe_it,
	.end = restart_empty,
	.wipes = true,
};
