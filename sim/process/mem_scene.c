/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "sim/process/scene.h"

static size_t draw(struct sim_chance *chance, const char *site, size_t n)
{
	return (size_t)sim_draw(chance, site, n);
}

static void draw_rehearsal(struct sim_terms *t, struct sim_chance *c)
{
	size_t from, len;

	t->faults = 1;
	switch (draw(c, "fault", 4)) {
	case 0:
		sim_terms_add(t, "refuse=%zu", 1 + draw(c, "percent", 30));
		sim_terms_add(t, "seed=%zu", draw(c, "seed", 1000));
		break;
	case 1:
		sim_terms_add(t, "lose=%zums", 30 + draw(c, "lose", 40));
		t->overlaps = 1;
		break;
	default:
		from = 10 + draw(c, "from", 40);
		sim_terms_add(t, "fail=%zu", from);
		len = strlen(t->uri);
		snprintf(t->uri + len, sizeof(t->uri) - len, "-%zu",
			 from + draw(c, "fails", 40));
	}
}

static void draw_mem(struct sim_terms *t, struct sim_chance *c)
{
	int leased = draw(c, "leased", 2) == 0;

	t->ask_ms = 1500;
	t->late_ms = 3;
	snprintf(t->uri, sizeof(t->uri), "mem://play");
	if (leased)
		sim_terms_add(t, "ttl=%zums", SIM_TTL_MS);
	memcpy(t->plain, t->uri, sizeof(t->plain));
	if (leased && draw(c, "faults", 2))
		draw_rehearsal(t, c);
	if (draw(c, "delays", 3) == 0)
		sim_terms_add(t, "delay=%zums", 1 + draw(c, "delay", 20));
}

const struct sim_scene sim_mem_scene = { .name = "mem", .draw = draw_mem };
