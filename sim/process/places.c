/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/places.h"

#include <stdio.h>

#include "sim/process/sched.h"

enum { PLACES = 8 };

static struct place {
	char name[16];
	int is_semaphore;
	size_t member;
} places[PLACES];

static size_t n_places;

void sim_places_begin(void)
{
	n_places = 0;
}

int sim_places_learn(const struct sim_models *s, const char *name,
		     int is_semaphore)
{
	struct place *p = &places[n_places];

	for (size_t i = 0; i < s->n; i++) {
		if (sim_models_claim(s, i, name, is_semaphore) == SIM_NONE)
			continue;
		if (n_places++ == PLACES)
			sim_sched_fail("more than %d names", PLACES);
		snprintf(p->name, sizeof(p->name), "%s", name);
		p->is_semaphore = is_semaphore;
		p->member = i;
		return (int)i;
	}
	return -1;
}

static void look_for(const struct sim_models *s, const struct place *p)
{
	for (size_t i = 0; i < s->n; i++) {
		if (i != p->member &&
		    sim_models_claim(s, i, p->name, p->is_semaphore) !=
			    SIM_NONE)
			sim_sched_fail("server %zu has a claim to %s, which "
				       "server %zu keeps",
				       i, p->name, p->member);
	}
}

void sim_places_look(const struct sim_models *s)
{
	for (size_t i = 0; i < n_places; i++)
		look_for(s, &places[i]);
}
