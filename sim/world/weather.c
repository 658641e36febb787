/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/weather.h"

/* Draw a rate: off in half of the seeds; else up to `rarest`, from as wild as a
 * 64th.  At most two faults are that wild, or no caller would get a lock. */
static uint64_t rate(struct sim_weather *w, struct sim_chance *c,
		     const char *site, uint64_t rarest)
{
	uint64_t kind = sim_draw(c, site, 8);

	if (kind == 7 && w->wildest++ >= 2)
		kind = 6;
	return kind < 4 ? 0 : rarest >> (2 * (kind - 4));
}

void sim_weather_draw(struct sim_weather *w, struct sim_chance *c)
{
	static const uint64_t delays_us[] = { 50, 200, 2000, 20000, 200000 };
	static const uint64_t buffers[] = { 65536, 65536, 4096, 300 };
	static const uint64_t rates[] = { 0, 0, 32, 4 };

	*w = (struct sim_weather){ 0 };
	w->delay_us = delays_us[sim_draw(c, "w:delay", 5)];
	/* A script takes minutes through a small buffer on a slow link. */
	w->buffer = buffers[sim_draw(c, "w:buffer", 4)];
	if (w->delay_us > 2000)
		w->buffer = buffers[0];
	w->split = rate(w, c, "w:split", 256);
	w->stall = rate(w, c, "w:stall", 4096);
	w->silence = rate(w, c, "w:silence", 16384);
	w->reset = rate(w, c, "w:reset", 8192);
	w->refused = rate(w, c, "w:refused", 128);
	w->unanswered = rate(w, c, "w:unanswered", 128);
	w->stop = rate(w, c, "w:stop", 4096);
	w->restart = rate(w, c, "w:restart", 2048);
	w->blank_restart = rate(w, c, "w:blank", 4096);
	w->flush = rate(w, c, "w:flush", 8192);
	w->evict = rate(w, c, "w:evict", 8192);
	w->forget = rate(w, c, "w:forget", 512);
	w->full = rate(w, c, "w:full", 4096);
	w->step = rate(w, c, "w:step", 4096);
	w->fail_over = rate(w, c, "w:failover", 8192);
	w->pause = rate(w, c, "w:pause", 4096);
	w->suspend = rate(w, c, "w:suspend", 8192);
	w->kill = rate(w, c, "w:kill", 65536);
	w->memory = rate(w, c, "w:memory", 8192);
	w->sleep = rate(w, c, "w:sleep", 8192);
	w->drift_ppm = 100 * sim_draw(c, "w:drift", 6);
	w->lease_ms = 500 + 250 * sim_draw(c, "w:lease", 6);
	w->has_name = sim_draw(c, "w:name", 2) == 1;
	w->has_stranger = w->has_name && !w->fail_over;
	w->rename = rate(w, c, "w:rename", 128);
	w->hang = rate(w, c, "w:hang", 64);
	w->breaks = rates[sim_draw(c, "w:break", 4)];
	w->downgrade = rates[sim_draw(c, "w:downgrade", 4)];
	w->times = sim_draw(c, "w:times", 8) == 7 ? 3 : 4;
}

void sim_weather_draw_memcached(struct sim_weather *w, struct sim_chance *c)
{
	w->late = rate(w, c, "w:late", 64);
	w->proxied = sim_draw(c, "w:proxied", 4) == 3;
	w->sleeps = (int)sim_draw(c, "w:sleeps", 2);
	w->dialect = (int)sim_draw(c, "w:dialect", 3);
	w->fail_over = w->downgrade = 0;
}
