/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/uri/uri.h"
#include "sim/allocation.h"
#include "sim/base/memory.h"
#include "sim/client.h"
#include "sim/strike.h"
#include "sim/world/timer.h"

/* RECOVERY_MS: until a client knows that a connection is dead, and has another;
 * LINGER_MS: so long the store keeps a token, or a queue without waiters, and a
 * store rounds a lease up by less. */
enum {
	TICK_MS = 100,
	RECOVERY_MS = 2 * SIM_PATIENCE_MS + 500,
	LINGER_MS = 1000,
	REST_MS = 1000,
	LONGEST = 20
};

static const int64_t ms = 1000000;

struct run {
	struct sim_net net;
	struct sim_judge judge;
	struct sim_strikes strikes;
	struct dlk_uri *uri;
	struct sim_client clients[SIM_CLIENTS];
	int64_t tick_at;
	int64_t client_due[SIM_CLIENTS]; /* by next_time() */
};

/* ---- Time ---------------------------------------------------------------- */

static void strike_client(struct run *r, struct sim_client *client)
{
	const struct sim_weather *w = &r->net.weather;
	struct sim_chance *c = r->net.chance;
	int64_t for_ms = 0;

	if (sim_happens(c, "pause", w->pause))
		for_ms = (int64_t)sim_draw(c, "pause:for", 300);
	if (sim_happens(c, "suspend", w->suspend))
		for_ms = (int64_t)sim_draw(c, "suspend:for", 3 * w->lease_ms);
	if (for_ms == 0 || !client->engine)
		return;
	sim_net_note(&r->net, "client %d pauses for %" PRId64 " ms",
		     client->number, for_ms);
	client->paused_until = r->net.now + for_ms * ms;
}

static void tick(struct run *r)
{
	if (!r->net.is_healed)
		sim_strike(&r->strikes);
	for (int i = 0; i < SIM_CLIENTS; i++)
		strike_client(r, &r->clients[i]);
	sim_judge_store(&r->judge);
	r->tick_at += TICK_MS * ms;
}

static int64_t next_time(struct run *r)
{
	int64_t at = sim_net_due(&r->net);

	at = r->tick_at < at ? r->tick_at : at;
	for (int i = 0; i < SIM_CLIENTS; i++) {
		int64_t due = sim_client_due(&r->clients[i]);

		r->client_due[i] = due;
		at = due < at ? due : at;
	}
	return at > r->net.now ? at : r->net.now;
}

/* The step of the network can only have brought edges. */
static int is_due(const struct run *r, int client)
{
	return (r->client_due[client] <= r->net.now || r->net.n_told > 0) &&
	       sim_client_due(&r->clients[client]) <= r->net.now;
}

/* Do the next event; 0: no event until `end`.  A client that awaits may let
 * more time go on. */
static int step(struct run *r, int64_t end)
{
	int64_t at = next_time(r);

	if (at > end)
		return 0;
	r->net.now = at;
	sim_net_step(&r->net);
	for (int i = 0; i < SIM_CLIENTS; i++) {
		if (is_due(r, i))
			sim_client_run(&r->clients[i]);
	}
	if (r->tick_at <= at)
		tick(r);
	return 1;
}

static void run_until(struct run *r, int64_t end)
{
	while (step(r, end))
		;
	if (r->net.now < end)
		r->net.now = end;
}

/* Return when a client that awaits goes on: not while it is paused. */
static int64_t paused_until(const struct run *r, const struct sim_wire *w)
{
	for (int i = 0; i < SIM_CLIENTS; i++) {
		if (&r->clients[i].world.base == w->client)
			return r->clients[i].paused_until;
	}
	return 0;
}

static void pass(void *arg, const struct sim_wire *w, int64_t until)
{
	struct run *r = arg;

	for (;;) {
		int64_t end = paused_until(r, w);

		if (end < until && !sim_wire_can_read(w))
			end = until;
		if (end <= r->net.now)
			return;
		if (!step(r, end))
			r->net.now = end;
	}
}

/* ---- The beginning and the end ------------------------------------------- */

static void begin(struct run *r, const struct sim_store *store,
		  struct sim_chance *chance, FILE *trace)
{
	sim_net_begin(&r->net, chance, store->kind);
	r->net.trace = trace;
	r->net.pass = pass;
	r->net.pass_arg = r;
	r->judge.net = r->strikes.net = &r->net;
	r->judge.lost_at = r->judge.set_forward_at = r->judge.moved_at = -1;
	r->strikes.judge = &r->judge;
	r->strikes.rename_at = SIM_NEVER;
	r->judge.linger_ms = store->linger_ms;
	r->judge.has_entry_of_permit = store->kind == SIM_MEMCACHED;
	r->uri = sim_store_uri(store, &r->net.weather);
	for (int i = 0; i < SIM_CLIENTS; i++) {
		struct sim_client *c = &r->clients[i];

		c->net = &r->net;
		c->judge = &r->judge;
		c->protocol = store->protocol;
		c->uri = r->uri;
		c->number = i;
	}
}

static void heal(struct run *r)
{
	sim_net_heal(&r->net);
	sim_strike_heal(&r->strikes);
	for (int i = 0; i < SIM_CLIENTS; i++)
		sim_client_heal(&r->clients[i]);
}

static int all_rest(const struct run *r)
{
	for (int i = 0; i < SIM_CLIENTS; i++) {
		if (!sim_client_rests(&r->clients[i]))
			return 0;
	}
	return 1;
}

static void check_rest(struct run *r)
{
	for (int i = 0; i < SIM_CALLERS; i++) {
		const struct sim_client *client =
			&r->clients[i / SIM_CLIENT_CALLERS];
		const struct sim_caller *c =
			&client->callers[i % SIM_CLIENT_CALLERS];

		if (client->engine && c->state != SIM_IDLE)
			sim_judge_fault(&r->judge, "caller %d has no answer",
					c->number);
	}
}

static void check_keys(struct run *r)
{
	const struct sim_server *s = &r->net.servers[r->net.master];
	struct sim_memc_time now = sim_server_time(&r->net, s);
	const char *key;

	for (size_t i = 0; (key = sim_model_key(s->model, i, now)); i++)
		sim_judge_fault(&r->judge, "the key %s is left", key);
}

/*
 * When the weather is over, each claim ends.  Then the leases of dead clients
 * and of late attempts end, and the store keeps no key of a lock.
 */
static void finish(struct run *r)
{
	int64_t lease = (int64_t)r->net.weather.lease_ms * ms;
	int64_t linger = sim_judge_linger_ms(&r->judge) * ms;
	int64_t until = r->net.now + (RECOVERY_MS + REST_MS) * ms + 2 * lease +
			linger;

	heal(r);
	while (r->net.now < until && !all_rest(r))
		run_until(r, r->net.now + TICK_MS * ms);
	check_rest(r);
	run_until(r, r->net.now + lease + linger +
			     (LINGER_MS + TICK_MS + r->judge.set_back_ms) * ms);
	check_keys(r);
}

/* In bad weather few claims meet. */
static int has_shown(const struct run *r)
{
	return r->judge.faults > 0 ||
	       (r->judge.grants > 0 && r->judge.conflicts > 0);
}

struct sim_result sim_run(const struct sim_store *store,
			  struct sim_chance *chance, int64_t seconds,
			  FILE *trace)
{
	struct run *r = sim_alloc(sizeof(*r));
	int64_t allocations = sim_allocations();
	struct sim_result result;
	int times = 0;

	begin(r, store, chance, trace);
	do
		run_until(r, r->net.now + seconds * 1000 * ms);
	while (!has_shown(r) && ++times < LONGEST);
	finish(r);
	for (int i = 0; i < SIM_CLIENTS; i++)
		sim_client_kill(&r->clients[i]);
	sim_net_end(&r->net);
	dlki_uri_free(r->uri);
	if (sim_allocations() != allocations)
		sim_judge_fault(&r->judge, "memory is left");
	result = (struct sim_result){ .hash = r->net.hash,
				      .events = r->net.events,
				      .grants = r->judge.grants,
				      .conflicts = r->judge.conflicts,
				      .renewals = r->judge.renewals,
				      .faults = r->judge.faults,
				      .ms = r->net.now / ms };
	memcpy(result.fault, r->judge.fault, sizeof(result.fault));
	free(r);
	return result;
}
