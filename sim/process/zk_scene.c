/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sim/process/scene.h"
#include "sim/process/zk_server.h"

static struct sim_zk_weather weather;

/* Draws elections only. */
static struct sim_chance elections;

static void draw_zk(struct sim_terms *t, struct sim_chance *chance)
{
	sim_chance_begin(&elections, ~chance->state);
	t->faults = sim_zk_weather_draw(&weather, chance, &elections);
	t->ttl_ms = weather.ttl_ms;
	t->holds_long = weather.holds_long;
	t->ask_ms = 2500;
	t->late_ms = 100;
	t->ports = weather.apart ? SIM_ZK_PORTS : 0;
	memcpy(t->uri, weather.uri, sizeof(t->uri));
	memcpy(t->plain, weather.uri, sizeof(t->plain));
}

static void begin(struct sim_chance *chance)
{
	sim_zk_server_start(chance, &elections, weather.followers);
}

static void faults(int on)
{
	sim_zk_server_weather(on ? &weather : NULL);
}

const struct sim_scene sim_zk_scene = {
	.name = "zk",
	.upgrades = 2,
	.resizes = 3,
	.draw = draw_zk,
	.begin = begin,
	.end = sim_zk_server_stop,
	.faults = faults,
	.left = sim_zk_server_left,
};
