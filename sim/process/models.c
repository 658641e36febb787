/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/models.h"

#include <stdio.h>

#include "sim/process/sched.h"

void sim_models_begin(struct sim_models *s, struct sim_chance *chance)
{
	s->chance = chance;
	s->n = s->weather.members;
	for (size_t i = 0; i < s->n; i++)
		sim_member_begin(&s->member[i], s->weather.kind);
}

void sim_models_end(struct sim_models *s)
{
	for (size_t i = 0; i < s->n; i++)
		sim_member_end(&s->member[i]);
}

size_t sim_models_member(const struct sim_models *s, const struct sim_wire *w)
{
	return s->n > 1 ? (size_t)w->port : 0;
}

int sim_models_has_claim(const struct sim_models *s, size_t member,
			 const char *name, int is_semaphore)
{
	struct sim_model *m = s->member[member].model;
	struct sim_entry e;
	char key[32];

	snprintf(key, sizeof(key), "%cn%s", is_semaphore ? 's' : 'l', name);
	return sim_model_entry(m, key, 0, 0, sim_member_now(), &e) ||
	       sim_model_entry(m, key, 1, 0, sim_member_now(), &e);
}

const char *sim_models_key(const struct sim_models *s)
{
	const char *key = NULL;

	for (size_t i = 0; i < s->n && !key; i++)
		key = sim_model_key(s->member[i].model, 0, sim_member_now());
	return key;
}
