/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/way.h"

#include <stdlib.h>

#include "sim/base/memory.h"
#include "sim/process/sched.h"

void sim_way_begin(struct sim_way *w)
{
	*w = (struct sim_way){ .last = &w->first };
}

struct sim_packet *sim_way_take(struct sim_way *w)
{
	struct sim_packet *p = w->first;

	w->first = p->next;
	if (!w->first)
		w->last = &w->first;
	return p;
}

void sim_packet_free(struct sim_packet *p)
{
	sim_bytes_free(&p->bytes);
	free(p);
}

void sim_way_end(struct sim_way *w)
{
	while (w->first)
		sim_packet_free(sim_way_take(w));
}

void sim_way_put(struct sim_way *w, const void *bytes, size_t len, int64_t at)
{
	struct sim_packet *p = sim_alloc(sizeof(*p));

	p->from = sim_sched_now();
	p->at = w->at = at > w->at ? at : w->at;
	sim_bytes_add(&p->bytes, bytes, len);
	*w->last = p;
	w->last = &p->next;
}

void sim_way_hurry(struct sim_way *w, int64_t at)
{
	for (struct sim_packet *p = w->first; p; p = p->next)
		p->at = p->at < at ? p->at : at;
	w->at = w->at < at ? w->at : at;
}

int64_t sim_way_due(const struct sim_way *w)
{
	return w->first ? w->first->at : SIM_FOREVER;
}
