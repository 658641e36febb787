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

static enum sim_claim claim_of_side(struct sim_model *m, const char *key,
				    int is_shared)
{
	struct sim_entry e;
	size_t n = 0;

	while (sim_model_entry(m, key, is_shared, n, sim_member_now(), &e)) {
		if (!e.has_expired)
			return SIM_STANDS;
		n++;
	}
	return n > 0 ? SIM_EXPIRED : SIM_NONE;
}

enum sim_claim sim_models_claim(const struct sim_models *s, size_t member,
				const char *name, int is_semaphore)
{
	struct sim_model *m = s->member[member].model;
	enum sim_claim exclusive, shared;
	char key[32];

	snprintf(key, sizeof(key), "%cn%s", is_semaphore ? 's' : 'l', name);
	exclusive = claim_of_side(m, key, 0);
	shared = claim_of_side(m, key, 1);
	return exclusive > shared ? exclusive : shared;
}

const char *sim_models_key(const struct sim_models *s)
{
	const char *key = NULL;

	for (size_t i = 0; i < s->n && !key; i++)
		key = sim_model_key(s->member[i].model, 0, sim_member_now());
	return key;
}
