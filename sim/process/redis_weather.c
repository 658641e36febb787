/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/model_weather.h"

#include <stdio.h>
#include <string.h>

enum { PORT = 6381 };

static void draw_faults(struct sim_model_weather *w, struct sim_terms *t,
			struct sim_chance *chance)
{
	uint64_t ttl_ms = (uint64_t)w->ttl_ms;

	w->wires.split_rate = sim_draw_rate(chance, "splits", 2, 100) / 20;
	w->wires.reset_rate = sim_draw_rate(chance, "reset", 3, 300);
	w->wires.end_rate = sim_draw_rate(chance, "end", 3, 300);
	w->pause_rate = sim_draw_rate(chance, "pause", 3, 300);
	w->pause_us = sim_draw_us(chance, "paused", 2 * ttl_ms);
	w->restart_rate = sim_draw_rate(chance, "restart", 3, 300);
	w->blank_rate = sim_draw_rate(chance, "blank", 6, 300);
	w->flush_rate = sim_draw_rate(chance, "flush", 8, 300);
	w->evict_rate = sim_draw_rate(chance, "evict", 8, 300);
	w->forget_rate = sim_draw_rate(chance, "forget", 3, 100);
	w->down_us = sim_draw_us(chance, "down", 500);
	w->clog_rate = sim_draw_rate(chance, "clog", 2, 200);
	t->sched.stop_rate = 10 * sim_draw_rate(chance, "stop", 4, 400);
	t->sched.stop_ns =
		(int64_t)sim_draw_us(chance, "stops", 3 * ttl_ms / 2) * 1000;
	w->clog_us = sim_draw_us(chance, "clogged", 2 * ttl_ms);
	w->apart = (int)sim_draw(chance, "apart", 2);
}

/* The shorter the lease, the more a lease that is too long is beyond the
 * margin. */
static int64_t draw_ttl_ms(struct sim_chance *chance)
{
	static const int64_t ttls_ms[] = { 300, 500, 1000, 3000 };

	return ttls_ms[sim_draw(chance, "ttl", 4)];
}

void sim_redis_weather_draw(struct sim_model_weather *w, struct sim_terms *t,
			    struct sim_chance *chance)
{
	*w = (struct sim_model_weather){ .kind = SIM_REDIS,
					 .members = 1,
					 .first_port = PORT,
					 .ttl_ms = draw_ttl_ms(chance) };
	w->wires.delay_us = 20 +
			    sim_draw(chance, "delay",
				     sim_draw(chance, "near", 2) ? 100 : 3000);
	t->faults = sim_draw(chance, "faults", 4) != 0;
	if (t->faults)
		draw_faults(w, t, chance);
	t->ttl_ms = w->late_ms = w->ttl_ms;
	t->holds_long = w->clog_rate > 0;
	/* A quarter, less the margin. */
	t->fresh_ms = w->ttl_ms / 4 - w->ttl_ms / 100 - 4;
	t->close_ms = 2000;
	t->ask_ms = 1100;
	t->late_ms = 100;
	t->ports = SIM_MODEL_PORTS;
	snprintf(t->uri, sizeof(t->uri),
		 "redis://127.0.0.1:%d?label=sim&ttl=%dms", PORT,
		 (int)w->ttl_ms);
	if (sim_draw(chance, "any", 4) == 0)
		sim_terms_add(t, "order=any", 0);
	if (sim_draw(chance, "close", 2) == 0) {
		t->close_ms = 50 + (int64_t)sim_draw(chance, "closed", 200);
		sim_terms_add(t, "close=%zums", (size_t)t->close_ms);
	}
	memcpy(t->plain, t->uri, sizeof(t->plain));
	t->is_deaf = t->mutual = sim_terms_draws(chance, 0x706c61696e000000,
						 "plain", 16);
	if (t->mutual) {
		t->late_ms = 300;
		sim_terms_add(t, "key=plain", 0);
	}
}
