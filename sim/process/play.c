/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/play.h"

#include <dlock/async.h>
#include <stdio.h>
#include <string.h>

#include "sim/allocation.h"
#include "sim/process/caller.h"
#include "sim/process/scene.h"
#include "sim/process/sched.h"

static struct sim_play play;

static size_t draw(const char *site, size_t n)
{
	return (size_t)sim_draw(play.chance, site, n);
}

/* ---- The stage ----------------------------------------------------------- */

static void must(const char *call, int rc)
{
	if (rc != DLOCK_OK)
		sim_sched_fail("%s returned %d: %s", call, rc, dlock_errmsg());
}

static dlock_lock *make_lock(size_t client, size_t name, int loose)
{
	const struct sim_name *n = &play.names[name];
	dlock_client *c = play.client[client];
	char text[16];
	dlock_lock *l;

	snprintf(text, sizeof(text), "name%zu", name);
	switch (n->kind) {
	case SIM_MUTUAL:
		must("dlock_mutex_new", dlock_mutex_new(&l, c, text));
		break;
	case SIM_READ_WRITE:
		must("dlock_rwlock_new", dlock_rwlock_new(&l, c, text));
		break;
	default:
		must("dlock_semaphore_new",
		     dlock_semaphore_new(&l, c, text, n->permits));
	}
	if (loose && n->kind != SIM_PERMITS)
		must("dlock_lock_unbind", dlock_lock_unbind(l));
	return l;
}

/* NULL: not of this lock, or not with this store. */
static dlock_lock *make_upgradeable(dlock_lock *of, size_t name)
{
	dlock_lock *l = NULL;

	if (play.terms.upgrades && play.names[name].kind == SIM_READ_WRITE)
		must("dlock_upgradeable_new", dlock_upgradeable_new(&l, of));
	return l;
}

/* Return the last digit of the first port, which has four. */
static char *last_digit(char *uri)
{
	static const char host[] = "127.0.0.1:";

	return strstr(uri, host) + strlen(host) + 3;
}

static void open_client(size_t i)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	char uri[sizeof(play.terms.uri)];

	memcpy(uri, play.terms.uri, sizeof(uri));
	if (play.terms.ports > 0)
		*last_digit(uri) = (char)('1' + (int)i % play.terms.ports);
	o.on_event = sim_judge_event;
	must("dlock_open", dlock_open(&play.client[i], uri, &o));
	for (size_t n = 0; n < play.n_names; n++) {
		play.handles[i].lock[n] = make_lock(i, n, 0);
		play.handles[i].loose[n] = make_lock(i, n, 1);
		play.handles[i].upgradeable[n] =
			make_upgradeable(play.handles[i].lock[n], n);
	}
}

static void close_client(size_t i)
{
	for (size_t n = 0; n < play.n_names; n++) {
		dlock_lock_free(play.handles[i].lock[n]);
		dlock_lock_free(play.handles[i].loose[n]);
		dlock_lock_free(play.handles[i].upgradeable[n]);
	}
	if (!play.close_has_begun || play.closing != i)
		dlock_close(play.client[i]);
}

static void draw_names(void)
{
	play.n_names = 1 + draw("names", SIM_NAMES);
	for (size_t i = 0; i < play.n_names; i++) {
		play.names[i].kind = (enum sim_lock_kind)draw("kind", 3);
		play.names[i].permits = 1 + (uint32_t)draw("permits", 3);
	}
}

/* Are the callers of this client in waits that are under way, or over? */
static int may_close(const struct sim_caller *callers, size_t n, size_t client)
{
	struct dlock_stats stats = { .size = sizeof(stats) };
	uint64_t waits = 0;

	for (size_t i = 0; i < n; i++) {
		if (callers[i].client != client || callers[i].over)
			continue;
		if (!callers[i].waits)
			return 0;
		waits++;
	}
	must("dlock_get_stats", dlock_get_stats(play.client[client], &stats));
	return stats.waiters == waits;
}

static void close_early(const struct sim_caller *callers, size_t n)
{
	sim_sched_wait(SIM_SLEEP, NULL,
		       sim_sched_now() +
			       (int64_t)draw("closing", 100) * SIM_MS);
	play.closing = draw("client", play.n_clients);
	play.close_has_begun = 1;
	while (!may_close(callers, n, play.closing))
		sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + SIM_MS);
	dlock_close(play.client[play.closing]);
}

static void run_callers(size_t most)
{
	struct sim_caller callers[SIM_CALLERS];
	size_t n = 2 + draw("callers", SIM_CALLERS - 1);

	for (size_t i = 0; i < n; i++) {
		callers[i] = (struct sim_caller){
			.play = &play,
			.number = (int)i,
			.client = draw("client", play.n_clients),
			.steps = 2 + (int)draw("steps", most),
		};
		if (pthread_create(&callers[i].thread, NULL, sim_caller_run,
				   &callers[i]) != 0)
			sim_sched_fail("no thread");
	}
	if (play.terms.closes)
		close_early(callers, n);
	for (size_t i = 0; i < n; i++)
		pthread_join(callers[i].thread, NULL);
}

/* ---- The end ------------------------------------------------------------- */

static void no_participant(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	sim_sched_fail("a %s is left in the store",
		       p->waiting ? "waiter" : "holder");
}

/* A time in which all leases end. */
static int64_t long_ns(void)
{
	return 3 * SIM_MS *
	       (play.terms.ttl_ms > SIM_TTL_MS ? play.terms.ttl_ms :
						 SIM_TTL_MS);
}

static void take_once(dlock_lock *l)
{
	dlock_hold *h;

	must("dlock_acquire", dlock_acquire(l, 0, &h));
	must("dlock_release", dlock_release(h));
}

/* An orphan stands until the lease ends. */
static void look_at_store(void)
{
	dlock_client *c;

	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + long_ns());
	must("dlock_open", dlock_open(&c, play.terms.plain, NULL));
	play.client[0] = c;
	for (size_t n = 0; n < play.n_names; n++) {
		dlock_lock *l = make_lock(0, n, 0), *upgradeable;

		must("dlock_inspect",
		     dlock_inspect(l, no_participant, NULL, 1000));
		take_once(l);
		upgradeable = make_upgradeable(l, n);
		if (upgradeable)
			take_once(upgradeable);
		dlock_lock_free(upgradeable);
		dlock_lock_free(l);
	}
	dlock_close(c);
}

static void give_back(const struct dlock_result *r, void *arg)
{
	(void)arg;
	must("an acquire", r->code);
	must("dlock_release", dlock_release(r->hold));
}

/* Have process and store make before memory is counted what both keep: tables
 * of threads, an empty queue, room for a queue with a waiter. */
static void warm_up(void)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_lock *lock, *other;
	dlock_client *c, *d;
	dlock_hold *h;
	int served = play.terms.scene->begin != NULL;
	const char *uri = served ? play.terms.plain : "mem://warm";

	o.on_event = sim_judge_event;
	must("dlock_open", dlock_open(&c, uri, &o));
	must("dlock_open", dlock_open(&d, uri, &o));
	must("dlock_semaphore_new", dlock_semaphore_new(&lock, c, "warm", 1));
	must("dlock_semaphore_new", dlock_semaphore_new(&other, d, "warm", 1));
	must("dlock_acquire", dlock_acquire(lock, 0, &h));
	if (dlock_acquire(other, served ? 1000 : 1, &h) != DLOCK_EBUSY)
		sim_sched_fail("there are two holders of a permit");
	must("dlock_release", dlock_release(h));
	must("dlock_acquire_start",
	     dlock_acquire_start(other, 0, give_back, NULL, NULL));
	must("dlock_wait", dlock_wait(d, DLOCK_FOREVER));
	dlock_lock_free(lock);
	dlock_lock_free(other);
	dlock_close(c);
	dlock_close(d);
}

static void serve(int on)
{
	const struct sim_scene *scene = play.terms.scene;

	if (on && scene->begin)
		scene->begin(play.chance);
	else if (scene->end)
		scene->end();
}

/* With a server, the faults begin when the clients are open, and end before
 * the clients are closed. */
static void change_weather(int bad)
{
	struct sim_sched_weather w = play.terms.sched;

	if (!play.terms.scene->faults)
		return;
	w.stall_rate = bad ? w.stall_rate : 0;
	w.stop_rate = bad ? w.stop_rate : 0;
	sim_sched_weather(&w);
	play.terms.scene->faults(bad);
}

/* Do the clients say that the store has no claim of theirs? */
static int is_settled(void)
{
	struct dlock_stats stats = { .size = sizeof(stats) };

	for (size_t i = 0; i < play.n_clients; i++) {
		must("dlock_get_stats",
		     dlock_get_stats(play.client[i], &stats));
		if (stats.holds + stats.waiters + stats.kept +
			    stats.pending_cleanups >
		    0)
			return 0;
	}
	return 1;
}

static void look_for_claims(void)
{
	for (size_t n = 0; n < play.n_names; n++) {
		char text[32];

		snprintf(text, sizeof(text), "name%zu", n);
		if (play.terms.scene->has_claim(text, play.names[n].kind ==
							      SIM_PERMITS))
			sim_sched_fail("a claim to %s is left in the store",
				       text);
	}
}

/* When the clients say that the store has no claim of theirs, the store has
 * none, nor later, when bytes arrive that are under way.  A client that was
 * closed says nothing. */
static void subside(void)
{
	int64_t until = sim_sched_now() + 2 * long_ns();
	struct sim_sched_weather w = play.terms.sched;

	if (!play.terms.scene->subside || play.terms.closes)
		return;
	w.stall_rate = w.stop_rate = 0;
	sim_sched_weather(&w);
	play.terms.scene->subside();
	while (!is_settled()) {
		if (sim_sched_now() > until)
			sim_sched_fail("a claim is left in a client");
		sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + SIM_MS);
	}
	/* A client that was cut off counts a claim from the sending of the
	 * request, and the store from the arrival. */
	sim_sched_wait(SIM_SLEEP, NULL,
		       sim_sched_now() + play.terms.ttl_ms * SIM_MS / 3);
	for (int64_t ms = play.terms.ttl_ms; ms > 0; ms--) {
		look_for_claims();
		sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + SIM_MS);
	}
}

/* All holds are released, and the sessions stand. */
static void look_at_server(void)
{
	const char *(*left)(void) = play.terms.scene->left;

	if (!left)
		return;
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + long_ns());
	if (left())
		sim_sched_fail("%s is left", left());
}

static void act(void)
{
	int64_t before;

	draw_names();
	serve(1);
	warm_up();
	serve(0);
	before = sim_allocations();
	serve(1);
	play.n_clients = 1 + draw("clients", SIM_CLIENTS);
	for (size_t i = 0; i < play.n_clients; i++)
		open_client(i);
	change_weather(1);
	run_callers(12);
	if (play.terms.scene->strand && play.terms.faults &&
	    !play.terms.closes) {
		play.terms.scene->strand();
		run_callers(2);
	}
	subside();
	change_weather(0);
	look_at_server();
	for (size_t i = 0; i < play.n_clients; i++)
		close_client(i);
	look_at_store();
	serve(0);
	if (sim_sched_threads() != 1)
		sim_sched_fail("%zu threads are left", sim_sched_threads() - 1);
	if (sim_allocations() != before)
		sim_sched_fail("%lld allocations are left",
			       (long long)(sim_allocations() - before));
}

void sim_play_seed(uint64_t seed, int tells, const struct sim_scene *scene,
		   struct sim_outcome *out)
{
	static struct sim_chance chance;

	sim_chance_begin(&chance, seed);
	play.chance = &chance;
	sim_terms_draw(&play.terms, scene, &chance);
	play.terms.upgrades = scene->upgrades > 0 &&
			      seed % scene->upgrades == scene->upgrades - 1;
	if (tells)
		sim_terms_tell(&play.terms);
	sim_sched_trace(tells);
	sim_judge_begin(&play.terms.rules);
	sim_sched_begin(&chance, &play.terms.sched);
	change_weather(0);
	act();
	*out = (struct sim_outcome){
		.hash = sim_sched_hash(),
		.grants = sim_judge_grants(),
		.draws = chance.n,
		.ms = sim_sched_now() / SIM_MS,
	};
}
