/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/zk_weather.h"

/* A rate, in 1 of `in` weathers; else 0. */
static uint64_t rate(struct sim_chance *chance, const char *site, uint64_t in,
		     uint64_t n)
{
	return sim_draw(chance, "kind", in) == 0 ?
		       20 + sim_draw(chance, site, n) :
		       0;
}

static uint64_t up_to_ms(struct sim_chance *chance, const char *site,
			 uint64_t ms)
{
	return 1000 * (1 + sim_draw(chance, site, ms));
}

int sim_zk_weather_draw(struct sim_zk_weather *w, struct sim_chance *chance)
{
	*w = (struct sim_zk_weather){ 0 };
	w->followers = sim_draw(chance, "followers", 2) ? 2 : 0;
	w->delay_us = 20 + sim_draw(chance, "delay", 3000);
	if (sim_draw(chance, "faults", 2) == 0)
		return 0;
	w->reset_rate = rate(chance, "reset", 2, 300);
	w->restart_rate = rate(chance, "restart", 3, 300);
	w->hold_rate = rate(chance, "hold", 2, 100);
	w->apart = w->followers > 0 && w->hold_rate > 0 &&
		   sim_draw(chance, "apart", 2) == 0;
	w->hold_us = up_to_ms(chance, "held", 3000);
	w->pause_rate = rate(chance, "pause", 2, 300);
	w->pause_us = up_to_ms(chance, "paused", 1500);
	return 1;
}

const char *sim_zk_weather_uri(const struct sim_zk_weather *w)
{
	if (w->followers == 0)
		return "zk://127.0.0.1:2181/play?ttl=1s";
	return w->apart ?
		       "zk://127.0.0.1:2181/play?ttl=1s&tick=100ms" :
		       "zk://127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183/play"
		       "?ttl=1s&tick=100ms";
}
