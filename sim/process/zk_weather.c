/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/zk_weather.h"

#include <stdio.h>

static void set_uri(struct sim_zk_weather *w)
{
	const char *hosts = w->followers > 0 && !w->apart ?
				    "127.0.0.1:2181,127.0.0.1:2182,"
				    "127.0.0.1:2183" :
				    "127.0.0.1:2181";

	snprintf(w->uri, sizeof(w->uri), "zk://%s/play?ttl=%dms%s%s", hosts,
		 (int)w->ttl_ms, w->followers > 0 ? "&tick=100ms" : "",
		 w->least_us > 0 ? "&ask=2s" : "");
}

/* The shorter the sessions, the more a lease that is too long by half a tick is
 * beyond the margin. */
static int64_t draw_ttl_ms(struct sim_chance *chance)
{
	static const int64_t ttls_ms[] = { 400, 500, 1000 };

	return ttls_ms[sim_draw(chance, "ttl", 3)];
}

/* A leader that does not hear of the others goes on for some ticks.  A client
 * that knows a single server stays there.  The shorter the sessions, the more
 * of them end meanwhile.  Returns whether there are elections. */
static int draw_elections(struct sim_zk_weather *w, struct sim_chance *chance,
			  int faults)
{
	if (sim_draw(chance, "elects", faults ? 4 : 2) != 0)
		return 0;
	w->apart |= sim_draw(chance, "apart", 4) != 0;
	w->ttl_ms = sim_draw(chance, "short", 2) ? 400 : w->ttl_ms;
	w->elect_rate = 20 + sim_draw(chance, "elect", 200);
	w->elect_us = sim_draw_us(chance, "electing", 500);
	w->alone_us = sim_draw_us(chance, "alone", 2000);
	w->holds_long = 1;
	return 1;
}

/* Without other faults, which end sessions before a report is due.  Returns
 * whether followers are held up. */
static int draw_reports(struct sim_zk_weather *w, struct sim_chance *chance)
{
	if (sim_draw(chance, "reports", 2) != 0)
		return 0;
	w->followers = 2;
	w->apart = 1;
	w->ttl_ms = sim_draw(chance, "short", 4) ? 400 : 500;
	w->report_rate = 1 + sim_draw(chance, "report", 2);
	w->holds_long = 1;
	return 1;
}

/* A lease rests on four round trips, each of a twelfth of the ttl at most.
 * Beside faults a slow way is rare. */
static void draw_slow(struct sim_zk_weather *w, const struct sim_chance *chance,
		      int faults)
{
	struct sim_chance slow;

	sim_chance_begin(&slow, chance->state ^ 0x736c6f7700000000);
	if (w->followers > 0 && sim_draw(&slow, "slow", 2) == 0 &&
	    (!faults || sim_draw(&slow, "rare", 5) == 0)) {
		w->ttl_ms = 2000;
		w->least_us = 80000;
		w->holds_long = 1;
	}
	sim_chance_end(&slow);
}

/* In most plays no directory is empty for long enough to be removed. */
static void draw_reaping(struct sim_zk_weather *w,
			 const struct sim_chance *chance)
{
	struct sim_chance reaps;

	sim_chance_begin(&reaps, chance->state ^ 0x7265617073000000);
	if (sim_draw(&reaps, "reaps", 8) == 0)
		w->reap_ms = 5 + (int64_t)sim_draw(&reaps, "reap", 100);
	sim_chance_end(&reaps);
}

int sim_zk_weather_draw(struct sim_zk_weather *w, struct sim_chance *chance,
			struct sim_chance *elections,
			struct sim_chance *reports)
{
	int faults;

	*w = (struct sim_zk_weather){ 0 };
	w->followers = sim_draw(chance, "followers", 2) ? 2 : 0;
	w->delay_us = 20 + sim_draw(chance, "delay",
				    sim_draw(chance, "near", 2) ? 100 : 3000);
	w->ttl_ms = draw_ttl_ms(chance);
	faults = sim_draw(chance, "faults", 2) != 0;
	if (faults) {
		w->reset_rate = sim_draw_rate(chance, "reset", 2, 300);
		w->restart_rate = sim_draw_rate(chance, "restart", 3, 300);
		w->hold_rate = sim_draw_rate(chance, "hold", 2, 100);
		w->apart = w->followers > 0 && sim_draw(chance, "apart", 2);
		if (w->apart && w->hold_rate == 0)
			w->hold_rate = 20 + sim_draw(chance, "hold", 100);
		w->in_turn = w->apart && sim_draw(chance, "in turn", 2);
		w->hold_us = sim_draw_us(chance, "held", 3000);
		w->clog_rate = sim_draw_rate(chance, "clog", 2, 300);
		w->holds_long = w->apart || w->clog_rate > 0;
		w->pause_rate = sim_draw_rate(chance, "pause", 2, 300);
		w->pause_us = sim_draw_us(chance, "paused", 1500);
	}
	if (w->followers > 0)
		faults |= draw_elections(w, elections, faults);
	if (!faults)
		faults = draw_reports(w, reports);
	draw_slow(w, chance, faults);
	draw_reaping(w, chance);
	set_uri(w);
	return faults;
}
