/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet of memcached servers.  Some have faults, each by itself. */
#include "sim/process/model_weather.h"

#include <stdio.h>
#include <string.h>

/* An attempt greets the server, looks at the slots, takes a slot, and perhaps
 * gives up the slot again. */
enum { ATTEMPT_TRIPS = 4 };

struct pool {
	size_t n;
	int order[SIM_MEMBERS];
	const char *distribution, *hash;
};

static const char *const distributions[] = { "modula", "consistent", "ketama",
					     "ketama_weighted", "ketama_spy" };

/* Of each libmemcached. */
static const char *const hashes[] = { "default", "md5", "crc", "fnv1_64",
				      "jenkins" };

static void swap(int *one, int *other)
{
	int first = *one;

	*one = *other;
	*other = first;
}

/* Make a pool that differs. */
static struct pool differ(const struct pool *p, struct sim_chance *chance)
{
	struct pool other = *p;

	switch (sim_draw(chance, "differs", 4)) {
	case 0:
		swap(&other.order[0], &other.order[1]);
		break;
	case 1:
		other.n--;
		break;
	case 2:
		other.hash = strcmp(p->hash, "crc") == 0 ? "md5" : "crc";
		break;
	default:
		other.distribution = strcmp(p->distribution, "modula") == 0 ?
					     "ketama" :
					     "modula";
	}
	return other;
}

/* Print the URI: the pool's servers, and the parameters. */
static void put_uri(char *to, size_t size, const struct pool *p, int first_port,
		    const char *params)
{
	size_t len = (size_t)snprintf(to, size, "memcached://");

	for (size_t i = 0; i < p->n; i++)
		len += (size_t)snprintf(to + len, size - len, "%s127.0.0.1:%d",
					i > 0 ? "," : "",
					first_port + p->order[i]);
	len += (size_t)snprintf(to + len, size - len, "/?%s", params);
	if (p->n > 1)
		snprintf(to + len, size - len, "&distribution=%s&hash=%s",
			 p->distribution, p->hash);
}

static void draw_pool(struct sim_terms *t, const struct sim_model_weather *w,
		      struct sim_chance *chance)
{
	struct pool p = { .n = w->members }, other;
	char params[sizeof(t->uri)];

	for (int i = 0; i < SIM_MEMBERS; i++)
		p.order[i] = i;
	p.distribution = distributions[sim_draw(chance, "distribution", 5)];
	p.hash = hashes[sim_draw(chance, "hash", 5)];
	snprintf(params, sizeof(params), "%s", strstr(t->uri, "/?") + 2);
	put_uri(t->uri, sizeof(t->uri), &p, w->first_port, params);
	memcpy(t->plain, t->uri, sizeof(t->plain));
	other = differ(&p, chance);
	put_uri(t->other, sizeof(t->other), &other, w->first_port, params);
	t->others = (1U << other.n) - 1;
}

/* At least one server has faults.  A server may be away for long; or slow, but
 * answers within the shortest max_hold=. */
static void draw_sick(struct sim_model_weather *w, struct sim_chance *chance)
{
	unsigned int all = (1U << w->members) - 1;

	w->sick = 1U + (unsigned int)sim_draw(chance, "sick", all);
	for (size_t i = 0; i < w->members; i++) {
		if (w->sick & 1U << i && sim_draw(chance, "slow", 4) == 0)
			w->slow_us[i] = sim_draw_us(chance, "slowly", 40);
	}
	if (sim_draw(chance, "away", 2) == 0)
		return;
	w->down_us = sim_draw_us(chance, "down", 2 * (uint64_t)w->ttl_ms);
	w->young_ms += (int64_t)w->down_us / 500;
}

/* Is a request over before the server can have answered an attempt? */
static int is_far(const struct sim_model_weather *w, const struct sim_terms *t,
		  size_t member)
{
	uint64_t trip_us = 2 * (w->wires.delay_us + w->slow_us[member]);

	return !strstr(t->uri, "ask=") &&
	       trip_us * ATTEMPT_TRIPS > (uint64_t)t->close_ms * 1000;
}

void sim_fleet_weather_draw(struct sim_model_weather *w, struct sim_terms *t,
			    struct sim_chance *chance)
{
	sim_memcached_weather_draw(w, t, chance);
	t->ports = 0;
	w->members = 2 + (size_t)sim_draw(chance, "members", SIM_MEMBERS - 1);
	if (t->faults)
		draw_sick(w, chance);
	if (t->faults)
		t->well = ((1U << w->members) - 1) & ~w->sick;
	for (size_t i = 0; i < w->members; i++)
		t->far |= (unsigned int)is_far(w, t, i) << i;
	/* Stalls excuse a server without faults: mostly there are none. */
	if (t->well != 0 && sim_draw(chance, "calm", 4))
		t->sched.stall_rate = t->sched.stop_rate = 0;
	t->forgets = w->blank_rate > 0 || w->flush_rate > 0 ||
		     w->evict_rate > 0;
	draw_pool(t, w, chance);
}
