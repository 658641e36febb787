/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/terms.h"

#include <stdio.h>
#include <string.h>

#include "sim/process/scene.h"

enum { SLACK_MS = 2, ASKED_MS = 100, WELL_LATE_MS = 20 * SIM_TTL_MS };

static size_t draw(struct sim_chance *chance, const char *site, size_t n)
{
	return (size_t)sim_draw(chance, site, n);
}

int sim_terms_draws(const struct sim_chance *chance, uint64_t question,
		    const char *site, size_t n)
{
	struct sim_chance own;
	int yes;

	sim_chance_begin(&own, chance->state ^ question);
	yes = draw(&own, site, n) == 0;
	sim_chance_end(&own);
	return yes;
}

static void draw_sched(struct sim_sched_weather *w, struct sim_chance *c)
{
	static const uint64_t rates[] = { 1, 2, 4, 16, 64 };

	w->switch_rate = rates[draw(c, "switches", 5)];
	w->stall_rate = draw(c, "stalls", 4) == 0 ? 50 + draw(c, "stall", 400) :
						    0;
	w->stall_ns = (1 + (int64_t)draw(c, "stalled", 300)) * SIM_MS;
	w->spurious_rate = draw(c, "spurious", 4) == 0 ? 8 : 0;
}

void sim_terms_add(struct sim_terms *t, const char *format, size_t value)
{
	size_t len = strlen(t->uri);

	t->uri[len++] = strchr(t->uri, '?') ? '&' : '?';
	snprintf(t->uri + len, sizeof(t->uri) - len, format, value);
}

/* What others want, a client keeps or passes. */
static void draw_keeping(struct sim_terms *t, struct sim_chance *c)
{
	if (draw(c, "keeps", 3) == 0)
		sim_terms_add(t, "keep=%zums",
			      1 + draw(c, "keep", (size_t)t->ttl_ms / 2));
	if (draw(c, "passes", 3) == 0)
		sim_terms_add(t, "passes=%zu", draw(c, "passed", 5));
}

static void draw_uri(struct sim_terms *t, struct sim_chance *c)
{
	t->scene->draw(t, c);
	t->sched.stall_ns = t->sched.stall_ns * t->ttl_ms / SIM_TTL_MS;
	if (!t->is_deaf)
		draw_keeping(t, c);
	if (draw(c, "ends", 4) == 0 && !t->slow) {
		size_t most_ms = 100 + draw(c, "end", 100);

		sim_terms_add(t, "max_hold=%zums", most_ms);
		t->faults = 1;
		if (t->fresh_ms > (int64_t)most_ms - SLACK_MS)
			t->fresh_ms = (int64_t)most_ms - SLACK_MS;
	}
	if (t->scene->sends &&
	    sim_terms_draws(c, 0x73656e7400000000, "sent", 8))
		sim_terms_add(t, "release=async", 0);
}

/* How late a lock has the next holder. */
static int64_t late_ms(const struct sim_terms *t)
{
	/* A server may be out of reach again and again. */
	if (t->holds_long)
		return INT64_C(200) * SIM_TTL_MS;
	/* An acquire whose claim was broken pauses before the next attempt. */
	if (t->may_break || t->memory_rate > 0 || (t->may_fail && !t->calm))
		return INT64_C(20) * SIM_TTL_MS;
	return t->late_ms;
}

/* May a hold of a server without faults be lost? */
static int well_may_lose(const struct sim_terms *t)
{
	return t->may_break || t->closes || t->well_may_fail ||
	       strstr(t->uri, "max_hold=");
}

static int stalls(const struct sim_terms *t)
{
	return t->sched.stall_rate > 0 || t->sched.stop_rate > 0;
}

static void draw_rules(struct sim_terms *t, struct sim_chance *c)
{
	t->may_break = draw(c, "breaks", 6) == 0;
	t->may_cancel = draw(c, "cancels", 3) == 0;
	t->closes = draw(c, "closes", 4) == 0;
	t->calm = !t->scene->begin && !t->faults && !strstr(t->uri, "delay=");
	t->may_fail = (t->scene->begin ? t->faults : !t->calm) || stalls(t) ||
		      t->memory_rate > 0;
	t->may_lose = t->faults || t->may_break || t->closes ||
		      (strstr(t->uri, "ttl=") && stalls(t));
	t->well_may_fail = stalls(t) || t->memory_rate > 0;
	t->well_may_lose = well_may_lose(t);
	t->revocable = sim_terms_draws(c, 0x7065726d69747300, "revocable", 4);
	/* Holds are lost meanwhile. */
	t->exhausts = sim_terms_draws(c, 0x6578686175737400, "exhausted", 2) &&
		      t->memory_rate > 0 && t->may_lose;
	t->nap_ns = (t->holds_long ? 2 * SIM_TTL_MS : 20) * SIM_MS;
	t->rules.may_lose = t->may_lose;
	t->rules.hearing.well_may_lose = t->well_may_lose;
	t->rules.well_late_ns = WELL_LATE_MS * SIM_MS;
	t->rules.scarce = t->memory_rate > 0;
	t->rules.looks = t->scene->strand != NULL;
	t->rules.may_overlap = t->may_break || t->overlaps;
	t->rules.fresh_ns = t->fresh_ms * SIM_MS;
	t->rules.late_ns = late_ms(t) * SIM_MS;
	t->rules.hearing.asked_ns = t->may_fail || t->may_lose ? 0 :
				    t->calm                    ? 2 * SIM_MS :
					      ASKED_MS * SIM_MS;
	t->rules.overdue_ns = (t->calm ? 2 : t->ask_ms) * SIM_MS;
}

static void draw_memory(struct sim_terms *t, struct sim_chance *c)
{
	static const uint64_t rates[] = { 5, 20, 60, 200 };

	t->memory_rate = 8 + draw(c, "memory", rates[draw(c, "scarce", 4)]);
	t->memory_burst = 1 + draw(c, "burst", 4);
}

void sim_terms_draw(struct sim_terms *t, const struct sim_scene *scene,
		    int scarce, struct sim_chance *chance)
{
	*t = (struct sim_terms){ .scene = scene, .ttl_ms = SIM_TTL_MS };
	if (scarce)
		draw_memory(t, chance);
	draw_sched(&t->sched, chance);
	draw_uri(t, chance);
	draw_rules(t, chance);
}

void sim_terms_tell(const struct sim_terms *t)
{
	fprintf(stderr,
		"%s, switch %d, stall %d or %d of %d ms, spurious %d%s%s%s\n",
		t->uri, (int)t->sched.switch_rate, (int)t->sched.stall_rate,
		(int)t->sched.stop_rate, (int)(t->sched.stall_ns / SIM_MS),
		(int)t->sched.spurious_rate, t->may_break ? ", breaks" : "",
		t->may_cancel ? ", cancels" : "", t->closes ? ", closes" : "");
	if (t->memory_rate > 0)
		fprintf(stderr, "1 allocation in %d fails, and up to %d more\n",
			(int)t->memory_rate, (int)t->memory_burst - 1);
	if (t->exhausts)
		fprintf(stderr, "for leases all allocations fail\n");
	if (t->no_threads)
		fprintf(stderr, "clients without threads%s\n",
			t->ticks ? ", at each tick" : "");
}
