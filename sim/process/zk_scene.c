/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "sim/process/scene.h"
#include "sim/process/zk_server.h"

static struct sim_zk_weather weather;

/* Each draws the faults of this name only. */
static struct sim_chance elections, reports;

static void draw_zk(struct sim_terms *t, struct sim_chance *chance)
{
	sim_chance_begin(&elections, ~chance->state);
	sim_chance_begin(&reports, chance->state ^ 0x7265706f72747300);
	t->faults = sim_zk_weather_draw(&weather, chance, &elections, &reports);
	t->ttl_ms = weather.ttl_ms;
	t->holds_long = weather.holds_long;
	t->crowded = weather.report_rate > 0;
	t->slow = weather.least_us > 0;
	if (t->slow) /* a lease would hardly ever outlast the stalls */
		t->sched.stall_rate = 0;
	t->ask_ms = t->slow ? 5000 : 2500;
	t->late_ms = 100;
	t->ports = weather.apart ? SIM_ZK_PORTS : 0;
	snprintf(t->uri, sizeof(t->uri), "%s", weather.uri);
	memcpy(t->plain, t->uri, sizeof(t->plain));
}

static void begin(struct sim_chance *chance)
{
	sim_zk_server_start(chance, &elections, &reports, &weather);
}

static void faults(int on)
{
	sim_zk_server_weather(on ? &weather : NULL);
}

const struct sim_scene sim_zk_scene = {
	.name = "zk",
	.upgrades = 2,
	.resizes = 3,
	.sends = 1,
	.draw = draw_zk,
	.begin = begin,
	.end = sim_zk_server_stop,
	.faults = faults,
	.left = sim_zk_server_left,
};
