/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/play.h"

#include <dlock/async.h>
#include <stdio.h>
#include <string.h>

#include "sim/allocation.h"
#include "sim/process/caller.h"
#include "sim/process/sched.h"
#include "sim/process/use.h"
#include "sim/process/zk_server.h"
#include "sim/process/zk_weather.h"

enum { TTL_MS = 1000, ASK_MS = 1500, ZK_ASK_MS = 2500, ZK_LATE_MS = 100 };

static struct sim_play play;
static char uri[160];
static int on_zk;
static struct sim_zk_weather zk_weather;
static struct sim_sched_weather weather;

static size_t draw(const char *site, size_t n)
{
	return (size_t)sim_draw(play.chance, site, n);
}

/* ---- The weather --------------------------------------------------------- */

static void draw_sched(struct sim_sched_weather *w)
{
	static const uint64_t rates[] = { 1, 2, 4, 16, 64 };

	w->switch_rate = rates[draw("switches", 5)];
	w->stall_rate = draw("stalls", 4) == 0 ? 50 + draw("stall", 400) : 0;
	w->stall_ns = (1 + (int64_t)draw("stalled", 300)) * SIM_MS;
	w->spurious_rate = draw("spurious", 4) == 0 ? 8 : 0;
}

static void add(const char *format, size_t value)
{
	size_t len = strlen(uri);

	uri[len++] = strchr(uri, '?') ? '&' : '?';
	snprintf(uri + len, sizeof(uri) - len, format, value);
}

static const char *zk_uri(void)
{
	return zk_weather.uri;
}

static void draw_uri(void)
{
	int leased = !on_zk && draw("leased", 2) == 0;
	int64_t ttl_ms = TTL_MS;
	size_t from;

	if (on_zk)
		play.may_lose = sim_zk_weather_draw(&zk_weather, play.chance);
	if (on_zk) {
		ttl_ms = zk_weather.ttl_ms;
		weather.stall_ns = weather.stall_ns * ttl_ms / TTL_MS;
	}
	snprintf(uri, sizeof(uri), "%s", on_zk ? zk_uri() : "mem://play");
	if (leased)
		add("ttl=%zums", TTL_MS);
	if (leased && draw("faults", 2)) {
		play.may_lose = 1;
		switch (draw("fault", 4)) {
		case 0:
			add("refuse=%zu", 1 + draw("percent", 30));
			add("seed=%zu", draw("seed", 1000));
			break;
		case 1:
			add("lose=%zums", 30 + draw("lose", 40));
			break;
		default:
			from = 10 + draw("from", 40);
			add("fail=%zu", from);
			snprintf(uri + strlen(uri), 8, "-%zu",
				 from + draw("fails", 40));
		}
	}
	if (!on_zk && draw("delays", 3) == 0)
		add("delay=%zums", 1 + draw("delay", 20));
	if (draw("keeps", 3) == 0)
		add("keep=%zums", 1 + draw("keep", (size_t)ttl_ms / 2));
	if (draw("passes", 3) == 0)
		add("passes=%zu", draw("passed", 5));
	if (draw("ends", 4) == 0) {
		add("max_hold=%zums", 100 + draw("end", 100));
		play.may_lose = 1;
	}
}

static struct sim_rules draw_rules(const struct sim_sched_weather *w)
{
	struct sim_rules r = { 0 };
	play.may_break = draw("breaks", 6) == 0;
	play.may_cancel = draw("cancels", 3) == 0;
	play.closes = draw("closes", 4) == 0;
	play.calm = !on_zk && !play.may_lose && !strstr(uri, "delay=");
	play.may_fail = (on_zk ? play.may_lose : !play.calm) ||
			w->stall_rate > 0;
	play.may_lose |= play.may_break || play.closes;
	if (strstr(uri, "ttl=") && w->stall_rate > 0)
		play.may_lose = 1;
	r.may_lose = play.may_lose;
	r.may_overlap = play.may_break || strstr(uri, "lose=") != NULL;
	/* An acquire whose claim was broken pauses before the next attempt. */
	r.late_ns = (play.calm && !play.may_break ? 3 : 20 * TTL_MS) * SIM_MS;
	/* A follower may be held up again and again. */
	if (on_zk && zk_weather.holds_long)
		r.late_ns = 200 * TTL_MS * SIM_MS;
	if (on_zk && !play.may_fail && !play.may_break)
		r.late_ns = ZK_LATE_MS * SIM_MS;
	r.overdue_ns = (play.calm ? 2 : on_zk ? ZK_ASK_MS : ASK_MS) * SIM_MS;
	play.told_ns = 1000 * SIM_MS;
	play.nap_ns = (on_zk && zk_weather.holds_long ? 2 * TTL_MS : 20) *
		      SIM_MS;
	return r;
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

static void open_client(size_t i)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.on_event = sim_judge_event;
	if (on_zk && zk_weather.apart)
		strstr(uri, ":218")[4] = (char)('1' + i % 3);
	must("dlock_open", dlock_open(&play.client[i], uri, &o));
	for (size_t n = 0; n < play.n_names; n++) {
		play.handles[i].lock[n] = make_lock(i, n, 0);
		play.handles[i].loose[n] = make_lock(i, n, 1);
	}
}

static void close_client(size_t i)
{
	for (size_t n = 0; n < play.n_names; n++) {
		dlock_lock_free(play.handles[i].lock[n]);
		dlock_lock_free(play.handles[i].loose[n]);
	}
	if (!play.close_has_begun || play.closing != i)
		dlock_close(play.client[i]);
}

static void draw_names(void)
{
	play.n_names = 1 + draw("names", SIM_NAMES);
	for (size_t i = 0; i < play.n_names; i++) {
		play.names[i].kind = (enum sim_kind)draw("kind", 3);
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

static void run_callers(void)
{
	struct sim_caller callers[SIM_CALLERS];
	size_t n = 2 + draw("callers", SIM_CALLERS - 1);

	for (size_t i = 0; i < n; i++) {
		callers[i] = (struct sim_caller){
			.play = &play,
			.number = (int)i,
			.client = draw("client", play.n_clients),
			.steps = 2 + (int)draw("steps", 12),
		};
		if (pthread_create(&callers[i].thread, NULL, sim_caller_run,
				   &callers[i]) != 0)
			sim_sched_fail("no thread");
	}
	if (play.closes)
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

/* An orphan stands until the lease ends. */
static void look_at_store(void)
{
	const char *plain = on_zk               ? zk_uri() :
			    strstr(uri, "ttl=") ? "mem://play?ttl=1s" :
						  "mem://play";
	dlock_client *c;

	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + 3 * TTL_MS * SIM_MS);
	must("dlock_open", dlock_open(&c, plain, NULL));
	play.client[0] = c;
	for (size_t n = 0; n < play.n_names; n++) {
		dlock_lock *l = make_lock(0, n, 0);

		must("dlock_inspect",
		     dlock_inspect(l, no_participant, NULL, 1000));
		sim_use_once(l);
		if (play.names[n].kind == SIM_READ_WRITE)
			sim_use_upgradeable_once(l);
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

	o.on_event = sim_judge_event;
	must("dlock_open", dlock_open(&c, on_zk ? zk_uri() : "mem://warm", &o));
	must("dlock_open", dlock_open(&d, on_zk ? zk_uri() : "mem://warm", &o));
	must("dlock_semaphore_new", dlock_semaphore_new(&lock, c, "warm", 1));
	must("dlock_semaphore_new", dlock_semaphore_new(&other, d, "warm", 1));
	must("dlock_acquire", dlock_acquire(lock, 0, &h));
	if (dlock_acquire(other, on_zk ? 1000 : 1, &h) != DLOCK_EBUSY)
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
	if (on_zk && on)
		sim_zk_server_start(play.chance, zk_weather.followers);
	else if (on_zk)
		sim_zk_server_stop();
}

/* With a server, the faults begin when the clients are open, and end before
 * these are closed. */
static void change_weather(int bad)
{
	struct sim_sched_weather w = weather;

	if (!on_zk)
		return;
	w.stall_rate = bad ? w.stall_rate : 0;
	sim_sched_weather(&w);
	sim_zk_server_weather(bad ? &zk_weather : NULL);
}

/* All holds are released, and the sessions stand. */
static void look_at_server(void)
{
	if (!on_zk)
		return;
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + 3 * TTL_MS * SIM_MS);
	if (sim_zk_server_left())
		sim_sched_fail("%s is left", sim_zk_server_left());
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
	run_callers();
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

void sim_play_seed(uint64_t seed, int tells, int zk, struct sim_outcome *out)
{
	static struct sim_chance chance;
	struct sim_rules rules;

	sim_chance_begin(&chance, seed);
	play.chance = &chance;
	on_zk = zk;
	draw_sched(&weather);
	draw_uri();
	rules = draw_rules(&weather);
	play.upgrades = on_zk && !play.closes && seed % 2 == 1;
	if (tells)
		fprintf(stderr,
			"%s, switch %d, stall %d of %d ms, spurious %d%s%s%s\n",
			uri, (int)weather.switch_rate, (int)weather.stall_rate,
			(int)(weather.stall_ns / SIM_MS),
			(int)weather.spurious_rate,
			play.may_break ? ", breaks" : "",
			play.may_cancel ? ", cancels" : "",
			play.closes ? ", closes" : "");
	sim_sched_trace(tells);
	sim_judge_begin(&rules);
	sim_sched_begin(&chance, &weather);
	change_weather(0);
	act();
	*out = (struct sim_outcome){
		.hash = sim_sched_hash(),
		.grants = sim_judge_grants(),
		.draws = chance.n,
		.ms = sim_sched_now() / SIM_MS,
	};
}
