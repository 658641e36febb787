/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>

#include "backends/redis/protocol/store.h"
#include "core/uri/uri.h"
#include "sim/base/memory.h"
#include "sim/caller.h"

extern const struct dlock_backend dlki_redis_backend;

/* LAST_ANSWER_MS: as long as a caller's patience, and then some; LINGER_MS: as
 * long as a released lock keeps its token, and then some. */
enum {
	CLIENTS = 6,
	CALLERS = 3,
	TURNS = 1000,
	LAST_ANSWER_MS = 12000,
	LINGER_MS = 3000
};

static const int64_t ms = 1000000;

struct client {
	struct sim_world world;
	struct dlki_engine *engine;
	struct dlki_terms terms;
	struct sim_caller callers[CALLERS];
	int64_t paused_until;
};

struct run {
	struct sim_net net;
	struct sim_judge judge;
	struct dlk_uri *uri;
	struct client clients[CLIENTS];
	int64_t tick_at;
};

/* ---- News ---------------------------------------------------------------- */

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock_us,
		      int64_t lease_ms, dlk_time now)
{
	struct client *c = arg;

	for (int i = 0; i < CALLERS; i++)
		sim_caller_pushed(&c->callers[i], id, token, clock_us, lease_ms,
				  now);
}

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	struct client *c = arg;

	for (int i = 0; i < CALLERS; i++)
		sim_caller_wake(&c->callers[i], id, now);
}

static void on_look(void *arg, dlk_time now)
{
	on_wake(arg, 0, now);
}

static void on_gone(void *arg, uint64_t id, dlk_time now)
{
	struct client *c = arg;

	for (int i = 0; i < CALLERS; i++)
		sim_caller_gone(&c->callers[i], id, now);
}

static void on_up(void *arg, const struct dlki_terms *terms, dlk_time now)
{
	struct client *c = arg;

	(void)now;
	c->terms = *terms;
}

/* ---- Clients ------------------------------------------------------------- */

static void begin_client(struct run *r, int n)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wake = on_wake,
		.gone = on_gone,
		.look_again = on_look,
		.up = on_up,
	};
	struct client *c = &r->clients[n];
	struct dlki_address address = { .len = sizeof(address.to.in) };
	struct dlki_engine_options options = {
		.world = &c->world.base,
		.protocol = &dlki_redis_protocol,
		.uri = r->uri,
		.label = "sim",
		.addresses = &address,
		.n_addresses = 1,
		.news = &news,
		.arg = c,
		.connect_ms = 1000,
		.patience_ms = 1000,
	};
	struct dlk_error err;

	address.to.in.sin_family = AF_INET;
	address.to.in.sin_port = htons(SIM_PORT);
	address.to.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sim_world_begin(&c->world, &r->net, (uint64_t)n);
	c->terms = (struct dlki_terms){
		.lease_ms = (int64_t)r->net.weather.lease_ms
	};
	c->engine = dlki_engine_new(&options, &err);
	if (!c->engine)
		sim_panic("no engine: %s", err.text);
	(void)dlki_lock(c->engine);
	for (int i = 0; i < CALLERS; i++)
		sim_caller_begin(&c->callers[i], c->engine, &c->world,
				 &r->judge, &c->terms, 1 + n * CALLERS + i);
	dlki_push(c->engine);
	dlki_unlock(c->engine);
}

static int64_t client_due(const struct client *c, int64_t now)
{
	int64_t due = sim_world_true(
		&c->world, dlki_alarms_next(dlki_engine_alarms(c->engine)));

	if (sim_world_has_events(&c->world))
		due = now;
	return due < c->paused_until ? c->paused_until : due;
}

/* Until nothing is left to do: a turn that was to wait, and found nothing. */
static void run_client(struct run *r, struct client *c)
{
	int turns = 0, unread;

	(void)dlki_lock(c->engine);
	do {
		if (++turns == TURNS)
			sim_panic("a client turns without end");
		dlki_turn(c->engine, DLKI_ALL_SETS, DLK_FOREVER);
	} while (c->world.has_work);
	dlki_unlock(c->engine);
	unread = sim_world_unread(&c->world);
	if (unread >= 0)
		sim_judge_fault(&r->judge, "wire %d: told, but not read",
				unread);
}

/* ---- Weather ------------------------------------------------------------- */

static void lose(struct run *r, const char *what)
{
	sim_net_note(&r->net, "the server %s", what);
	sim_judge_store_lost(&r->judge);
}

static void strike_server(struct run *r)
{
	const struct sim_weather *w = &r->net.weather;
	struct sim_chance *c = r->net.chance;
	struct sim_server *s = &r->net.servers[0];

	if (sim_happens(c, "stop", w->stop)) {
		sim_net_note(&r->net, "the server stops");
		s->stopped_until = r->net.now +
				   (int64_t)(1 + sim_draw(c, "stop:for",
							  3 * w->lease_ms)) *
					   ms;
	}
	if (sim_happens(c, "restart", w->restart)) {
		sim_net_note(&r->net, "the server restarts");
		sim_redis_restart(s->redis, 1);
	}
	if (sim_happens(c, "blank", w->blank_restart)) {
		lose(r, "restarts with nothing");
		sim_redis_restart(s->redis, 0);
	}
	if (sim_happens(c, "flush", w->flush)) {
		lose(r, "is flushed");
		sim_redis_flush(s->redis);
	}
	if (sim_happens(c, "evict", w->evict)) {
		lose(r, "evicts a key");
		sim_redis_evict(s->redis, sim_draw(c, "evict:key", 64));
	}
	if (sim_happens(c, "forget", w->forget)) {
		sim_net_note(&r->net, "the server forgets its scripts");
		sim_redis_forget_scripts(s->redis);
	}
}

static void strike_client(struct run *r, int n)
{
	const struct sim_weather *w = &r->net.weather;
	struct sim_chance *c = r->net.chance;
	int64_t for_ms = 0;

	if (sim_happens(c, "pause", w->pause))
		for_ms = (int64_t)sim_draw(c, "pause:for", 300);
	if (sim_happens(c, "suspend", w->suspend))
		for_ms = (int64_t)sim_draw(c, "suspend:for", 3 * w->lease_ms);
	if (for_ms == 0)
		return;
	sim_net_note(&r->net, "client %d pauses for %" PRId64 " ms", n, for_ms);
	r->clients[n].paused_until = r->net.now + for_ms * ms;
}

static void tick(struct run *r)
{
	strike_server(r);
	for (int i = 0; i < CLIENTS; i++)
		strike_client(r, i);
	r->tick_at += 100 * ms;
}

/* ---- Runs ---------------------------------------------------------------- */

static int64_t next_time(const struct run *r)
{
	int64_t at = sim_net_due(&r->net);

	at = r->tick_at < at ? r->tick_at : at;
	for (int i = 0; i < CLIENTS; i++) {
		int64_t due = client_due(&r->clients[i], r->net.now);

		at = due < at ? due : at;
	}
	return at > r->net.now ? at : r->net.now;
}

static void begin(struct run *r, struct sim_chance *chance, FILE *trace)
{
	struct dlk_error err;
	char text[80];

	sim_net_begin(&r->net, chance, 1);
	r->net.trace = trace;
	r->judge.net = &r->net;
	r->judge.lost_at = -1;
	snprintf(text, sizeof(text), "redis://127.0.0.1:%d?ttl=%" PRIu64 "ms",
		 SIM_PORT, r->net.weather.lease_ms);
	if (dlki_uri_parse(&r->uri, text, dlki_redis_backend.params, NULL,
			   &err) != 0)
		sim_panic("%s: %s", text, err.text);
	for (int i = 0; i < CLIENTS; i++)
		begin_client(r, i);
}

static void run_until(struct run *r, int64_t end)
{
	for (;;) {
		int64_t at = next_time(r);

		if (at > end)
			break;
		r->net.now = at;
		sim_net_step(&r->net);
		for (int i = 0; i < CLIENTS; i++) {
			if (client_due(&r->clients[i], at) <= at)
				run_client(r, &r->clients[i]);
		}
		if (r->tick_at <= at)
			tick(r);
	}
	r->net.now = end;
}

/* When the weather is over, each caller gets its answer, and the store keeps
 * nothing but the clock of the tokens. */
static void finish(struct run *r)
{
	int64_t lease = (int64_t)r->net.weather.lease_ms * ms;
	size_t keys;

	sim_net_heal(&r->net);
	for (int i = 0; i < CLIENTS; i++)
		r->clients[i].paused_until = 0;
	run_until(r, r->net.now + LAST_ANSWER_MS * ms + 2 * lease);
	for (int i = 0; i < CLIENTS * CALLERS; i++) {
		const struct sim_caller *c =
			&r->clients[i / CALLERS].callers[i % CALLERS];

		if (!sim_caller_rests(c))
			sim_judge_fault(&r->judge, "caller %d has no answer",
					c->number);
	}
	run_until(r, r->net.now + lease + LINGER_MS * ms);
	keys = sim_redis_keys(r->net.servers[0].redis,
			      sim_server_us(&r->net, &r->net.servers[0]));
	if (keys > 1)
		sim_judge_fault(&r->judge, "%zu keys are left", keys);
}

struct sim_result sim_run(struct sim_chance *chance, int64_t seconds,
			  FILE *trace)
{
	struct run *r = sim_alloc(sizeof(*r));
	struct sim_result result;

	begin(r, chance, trace);
	run_until(r, seconds * 1000 * ms);
	finish(r);
	result = (struct sim_result){ r->net.hash, r->net.events,
				      r->judge.grants, r->judge.renewals,
				      r->judge.faults };
	for (int i = 0; i < CLIENTS; i++)
		dlki_engine_free(r->clients[i].engine);
	sim_net_end(&r->net);
	dlki_uri_free(r->uri);
	free(r);
	return result;
}
