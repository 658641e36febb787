/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/minimise.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/run.h"

struct search {
	struct sim_draw *best; /* of a run with a fault */
	size_t n;
	const struct sim_store *store;
	int64_t seconds;
	int runs; /* left */
};

/* Run with the draws.  If the fault shows, they are the best from now on. */
static int try(struct search *s, const struct sim_draw *draws, size_t n)
{
	struct sim_chance c;
	int is_bad;

	s->runs--;
	sim_chance_repeat(&c, draws, n);
	is_bad = sim_run(s->store, &c, s->seconds, NULL).faults > 0;
	if (is_bad) {
		memcpy(s->best, draws, n * sizeof(*draws));
		s->n = n;
	}
	sim_chance_end(&c);
	return is_bad;
}

static size_t not_zero(const struct sim_draw *draws, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += draws[i].value != 0;
	return found;
}

/* Without the last half, quarter, ... */
static void cut(struct search *s)
{
	for (size_t part = s->n / 2; part > 0 && s->runs > 0;) {
		struct sim_draw *draws = sim_alloc(s->n * sizeof(*draws));

		memcpy(draws, s->best, s->n * sizeof(*draws));
		if (part >= s->n || !try(s, draws, s->n - part))
			part /= 2;
		free(draws);
	}
}

/* With zeroes in a part of the log; parts become smaller. */
static void calm(struct search *s)
{
	for (size_t part = s->n / 2; part > 0 && s->runs > 0; part /= 2) {
		for (size_t at = 0; at < s->n && s->runs > 0; at += part) {
			size_t end = at + part < s->n ? at + part : s->n;
			struct sim_draw *draws;

			if (not_zero(s->best + at, end - at) == 0)
				continue;
			draws = sim_alloc(s->n * sizeof(*draws));
			memcpy(draws, s->best, s->n * sizeof(*draws));
			for (size_t i = at; i < end; i++)
				draws[i].value = 0;
			(void)try(s, draws, s->n);
			free(draws);
		}
	}
}

size_t sim_minimise(const struct sim_store *store, struct sim_chance *c,
		    int64_t seconds, int runs)
{
	struct search s = {
		.n = c->n, .store = store, .seconds = seconds, .runs = runs
	};
	size_t left;

	s.best = sim_alloc((c->n + 1) * sizeof(*s.best));
	memcpy(s.best, c->log, c->n * sizeof(*s.best));
	cut(&s);
	calm(&s);
	left = not_zero(s.best, s.n);
	sim_chance_end(c);
	sim_chance_repeat(c, s.best, s.n);
	(void)sim_run(store, c, seconds, NULL);
	free(s.best);
	return left;
}
