/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/play.h"

#include <dlock/async.h>
#include <stdio.h>
#include <string.h>

#include "sim/allocation.h"
#include "sim/process/caller.h"
#include "sim/process/ending.h"
#include "sim/process/fleet.h"
#include "sim/process/scene.h"
#include "sim/process/sched.h"
#include "sim/process/stage.h"

enum { LOOK_MS = 50 };

static struct sim_play play;

static size_t draw(const char *site, size_t n)
{
	return (size_t)sim_draw(play.chance, site, n);
}

/* ---- The stage ----------------------------------------------------------- */

static void open_client(size_t i)
{
	int ports = play.terms.ports;

	sim_stage_must("dlock_open",
		       sim_stage_open(&play, i,
				      ports > 0 ? (int)i % ports : -1));
	for (size_t n = 0; n < play.n_names; n++) {
		play.handles[i].lock[n] = sim_stage_lock(&play, i, n, 0);
		play.handles[i].loose[n] = sim_stage_lock(&play, i, n, 1);
		play.handles[i].reading[n] = sim_stage_reading(&play, i, n);
		play.handles[i].upgradeable[n] = sim_stage_upgradeable(
			&play, play.handles[i].lock[n], n);
		play.handles[i].loose_upgradeable[n] = sim_stage_upgradeable(
			&play, play.handles[i].loose[n], n);
	}
}

static void close_client(size_t i)
{
	for (size_t n = 0; n < play.n_names; n++) {
		dlock_lock_free(play.handles[i].lock[n]);
		dlock_lock_free(play.handles[i].loose[n]);
		dlock_lock_free(play.handles[i].reading[n]);
		dlock_lock_free(play.handles[i].upgradeable[n]);
		dlock_lock_free(play.handles[i].loose_upgradeable[n]);
	}
	if (!play.close_has_begun || play.closing != i) {
		sim_stage_unattend(&play, i);
		dlock_close(play.client[i]);
	}
}

static void draw_names(void)
{
	play.n_names = 1 + draw("names", SIM_NAMES);
	if (play.terms.crowded)
		play.n_names = 1;
	if (play.terms.scene->learn_member) /* spread over the servers */
		play.n_names = SIM_NAMES;
	for (size_t i = 0; i < play.n_names; i++) {
		play.names[i].kind = (enum sim_lock_kind)draw("kind", 3);
		if (play.terms.mutual)
			play.names[i].kind = SIM_MUTUAL;
		if (play.terms.rushes)
			play.names[i].kind = play.terms.resizes ?
						     SIM_PERMITS :
						     SIM_READ_WRITE;
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
	sim_stage_must("dlock_get_stats",
		       dlock_get_stats(play.client[client], &stats));
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
	sim_stage_unattend(&play, play.closing);
	if (play.terms.closes_all && draw("waits", 2) == 1)
		sim_stage_close(&play, play.client[play.closing]);
	else
		dlock_close(play.client[play.closing]);
}

/* Looks at the holds of all callers, as any thread may. */
static void *look_on(void *ends)
{
	while (!*(const int *)ends) {
		sim_judge_look();
		sim_sched_wait(SIM_SLEEP, NULL,
			       sim_sched_now() +
				       (1 + (int64_t)draw("look", LOOK_MS)) *
					       SIM_MS);
	}
	return NULL;
}

static void wait_for_leases(struct sim_chance *chance, int least, int most)
{
	int64_t ttl_ms = play.terms.ttl_ms;
	int64_t ms = least * ttl_ms +
		     (int64_t)sim_draw(chance, "leases",
				       (uint64_t)((most - least) * ttl_ms));

	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + ms * SIM_MS);
}

/* Has memory be exhausted, each time for so long that a claim's window ends.
 * The last time outlasts the callers, whose calls fail at once. */
static void *exhaust(void *ends)
{
	struct sim_chance chance;

	sim_chance_begin(&chance, play.chance->state);
	while (!*(const int *)ends) {
		wait_for_leases(&chance, 0, 1);
		sim_sched_tell("all allocations fail");
		sim_allocation_exhaust(1);
		wait_for_leases(&chance, 1, 3);
		sim_allocation_exhaust(0);
	}
	sim_chance_end(&chance);
	return NULL;
}

static void run_callers(size_t most)
{
	struct sim_caller callers[SIM_CALLERS];
	size_t n = 2 + draw("callers", SIM_CALLERS - 1);
	const int looks = play.terms.rules.looks;
	const int exhausts = play.terms.exhausts;
	pthread_t onlooker, exhauster;
	int ends = 0;

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
	if (looks && pthread_create(&onlooker, NULL, look_on, &ends) != 0)
		sim_sched_fail("no thread");
	if (exhausts && pthread_create(&exhauster, NULL, exhaust, &ends) != 0)
		sim_sched_fail("no thread");
	sim_fleet_send_newcomers(&play);
	if (play.terms.closes)
		close_early(callers, n);
	for (size_t i = 0; i < n; i++)
		pthread_join(callers[i].thread, NULL);
	ends = 1;
	sim_fleet_end_newcomers();
	if (looks)
		pthread_join(onlooker, NULL);
	if (exhausts)
		pthread_join(exhauster, NULL);
}

/* ---- The acts ------------------------------------------------------------ */

static void give_back(const struct dlock_result *r, void *arg)
{
	(void)arg;
	sim_stage_must("an acquire", r->code);
	sim_stage_must("dlock_release", dlock_release(r->hold));
}

/* Before memory is counted, have process and store make the things that stay:
 * tables of threads, an empty queue, room for a queue with a waiter. */
static void warm_up(void)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_lock *lock, *other;
	dlock_client *c, *d;
	dlock_hold *h;
	int served = play.terms.scene->begin != NULL;
	const char *uri = served ? play.terms.plain : "mem://warm";

	o.on_event = sim_ear_event;
	sim_stage_must("dlock_open", dlock_open(&c, uri, &o));
	sim_stage_must("dlock_open", dlock_open(&d, uri, &o));
	sim_stage_must("dlock_semaphore_new",
		       dlock_semaphore_new(&lock, c, "warm", 1));
	sim_stage_must("dlock_semaphore_new",
		       dlock_semaphore_new(&other, d, "warm", 1));
	sim_stage_must("dlock_acquire", dlock_acquire(lock, 0, &h));
	if (dlock_acquire(other, served ? 1000 : 1, &h) != DLOCK_EBUSY)
		sim_sched_fail("there are two holders of a permit");
	sim_stage_must("dlock_release", dlock_release(h));
	sim_stage_must("dlock_acquire_start",
		       dlock_acquire_start(other, 0, give_back, NULL, NULL));
	sim_stage_must("dlock_wait", dlock_wait(d, DLOCK_FOREVER));
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

static void change_memory(int scarce)
{
	sim_allocation_weather(play.chance, scarce ? play.terms.memory_rate : 0,
			       play.terms.memory_burst);
}

static void act(void)
{
	int is_fleet = play.terms.scene->learn_member != NULL;
	int64_t before;

	draw_names();
	serve(1);
	warm_up();
	serve(0);
	before = sim_allocations();
	serve(1);
	play.n_clients = 1 + draw("clients", SIM_CLIENTS);
	if (play.terms.crowded)
		play.n_clients = SIM_CLIENTS;
	change_memory(!is_fleet);
	for (size_t i = 0; i < play.n_clients; i++)
		open_client(i);
	if (is_fleet) {
		sim_fleet_begin(&play);
		change_memory(1);
	}
	change_weather(1);
	run_callers(play.terms.rushes ? 40 : 12);
	if (play.terms.scene->strand && play.terms.faults &&
	    !play.terms.closes) {
		play.terms.scene->strand();
		run_callers(2);
	}
	change_memory(0);
	sim_ending_subside(&play);
	change_weather(0);
	sim_ending_look_at_server(&play);
	sim_fleet_change_pool(&play);
	for (size_t i = 0; i < play.n_clients; i++)
		close_client(i);
	sim_ending_look_at_store(&play);
	serve(0);
	if (sim_sched_threads() != 1)
		sim_sched_fail("%zu threads are left", sim_sched_threads() - 1);
	if (sim_allocations() != before)
		sim_sched_fail("%lld allocations are left",
			       (long long)(sim_allocations() - before));
}

static int is_medley(uint64_t seed)
{
	return seed / 16 % 16 == 13;
}

static int is_unattended(uint64_t seed)
{
	return seed / 16 % 16 == 14;
}

/* The seed's remainder chooses the feature; a medley draws each feature. */
static int has(uint64_t seed, uint64_t feature, uint64_t of, uint64_t rest)
{
	if (is_medley(seed))
		return sim_terms_draws(
			play.chance, 0x6d65646c65790000 + feature, "medley", 3);
	return seed % of == rest;
}

static void choose_features(uint64_t seed, const struct sim_scene *scene)
{
	struct sim_terms *t = &play.terms;

	t->upgrades = scene->upgrades > 0 &&
		      has(seed, 1, scene->upgrades, scene->upgrades - 1);
	t->begins_upgrades = t->upgrades && has(seed, 2, 16, 15);
	t->starts_releases = t->begins_upgrades && has(seed, 3, 128, 63);
	/* Where an answer takes a twelfth of the ttl, the answers to the calls
	 * of other threads may take the time of a renewal. */
	t->no_threads = has(seed, 4, 16, 3) && !(t->slow && is_medley(seed));
	t->no_threads |= !t->slow && is_unattended(seed);
	t->ticks = t->no_threads && seed / 16 % 32 == 30;
	/* A waiter that releases or renews for the client, and gets no answer,
	 * is late for the claim that it is passed. */
	if (t->no_threads && t->faults && strncmp(t->uri, "redis:", 6) == 0)
		t->rules.fresh_ns = 0;
	t->begins_both = has(seed, 5, 8, 4);
	t->options = has(seed, 6, 8, 5);
	t->short_leases = t->options && !t->slow && is_medley(seed);
	t->observes = !t->closes && has(seed, 7, 8, 6);
	t->hasty = !t->closes && !t->exhausts && has(seed, 8, 16, 11);
	t->polls = !t->closes && has(seed, 9, 8, 1);
	t->closes_all = t->closes && has(seed, 10, 8, 6);
	t->resizes = scene->resizes > 0 && has(seed, 11, scene->resizes, 0);
	t->rushes = scene->resizes > 0 && (t->resizes || t->upgrades) &&
		    (is_medley(seed) || is_unattended(seed)) &&
		    sim_terms_draws(play.chance, 0x7275736865730000, "rushes",
				    2);
	t->crowded |= t->rushes;
	if (t->rushes)
		t->nap_ns = 20 * SIM_MS;
}

void sim_play_seed(uint64_t seed, int tells, const struct sim_scene *scene,
		   int scarce, struct sim_outcome *out)
{
	static struct sim_chance chance;

	sim_chance_begin(&chance, seed);
	play.chance = &chance;
	sim_terms_draw(&play.terms, scene, scarce, &chance);
	choose_features(seed, scene);
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
