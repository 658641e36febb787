/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/weather.h"

/* Off in half of the seeds; else up to `rarest`, from as wild as a 64th. */
static uint64_t rate(struct sim_chance *c, const char *site, uint64_t rarest)
{
	uint64_t kind = sim_draw(c, site, 8);

	return kind < 4 ? 0 : rarest >> (2 * (kind - 4));
}

void sim_weather_draw(struct sim_weather *w, struct sim_chance *c)
{
	static const uint64_t delays_us[] = { 50, 200, 2000, 20000, 200000 };
	static const uint64_t buffers[] = { 65536, 65536, 4096, 300 };

	w->delay_us = delays_us[sim_draw(c, "w:delay", 5)];
	/* A script takes minutes through a small buffer on a slow link. */
	w->buffer = buffers[sim_draw(c, "w:buffer", 4)];
	if (w->delay_us > 2000)
		w->buffer = buffers[0];
	w->split = rate(c, "w:split", 256);
	w->stall = rate(c, "w:stall", 4096);
	w->silence = rate(c, "w:silence", 16384);
	w->reset = rate(c, "w:reset", 8192);
	w->refused = rate(c, "w:refused", 128);
	w->unanswered = rate(c, "w:unanswered", 128);
	w->stop = rate(c, "w:stop", 2048);
	w->restart = rate(c, "w:restart", 2048);
	w->blank_restart = rate(c, "w:blank", 4096);
	w->flush = rate(c, "w:flush", 8192);
	w->evict = rate(c, "w:evict", 8192);
	w->forget = rate(c, "w:forget", 512);
	w->full = rate(c, "w:full", 4096);
	w->step = rate(c, "w:step", 4096);
	w->fail_over = rate(c, "w:failover", 8192);
	w->pause = rate(c, "w:pause", 4096);
	w->suspend = rate(c, "w:suspend", 8192);
	w->kill = rate(c, "w:kill", 65536);
	w->memory = rate(c, "w:memory", 8192);
	w->sleep = rate(c, "w:sleep", 8192);
	w->drift_ppm = 100 * sim_draw(c, "w:drift", 6);
	w->lease_ms = 500 + 500 * sim_draw(c, "w:lease", 6);
}
