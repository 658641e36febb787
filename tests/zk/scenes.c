/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two holders, if it were possible.  A client in another process is granted a
 * lock as long as possible after the leader last heard of the client, and the
 * client's server freezes at once.  A second client waits at the leader.
 */
#include "zk/three.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "support/process.h"

TestSuite(zk_scenes, .timeout = 900);

/* The ttl has as many ticks as by default.  A round in four or so is in vain:
 * the leader happened to ping right before the server froze. */
#define TICK_MS 200
#define TTL_MS 3000
#define ROUNDS 2

static const struct lab_zk_options servers = { .tick_ms = TICK_MS,
					       .min_session_ms = 400 };

/* ---- The client that is stopped ------------------------------------------ */

enum deed { OPEN, TOUCH, TAKE, KEEP };

struct order {
	enum deed deed;
	pid_t server; /* to be frozen */
	char uri[200];
};

struct shared {
	atomic_int granted, renewed;
	atomic_int at_once; /* freeze the server after so many renewals */
	_Atomic int64_t lost_at_ms;
};

struct actor {
	pid_t pid;
	int orders[2], answers[2];
	struct shared *shared;
};

/* The server freezes with the grant or, for KEEP, with a renewal. */
static void take_and_lose(struct shared *s, dlock_client *c, dlock_lock *l,
			  const struct order *o)
{
	dlock_hold *h = take(l, 2 * PATIENCE);
	int frozen = o->deed == TAKE;

	if (frozen)
		CHECK_INT(kill(o->server, SIGSTOP), ==, 0);
	s->granted = 1;
	while (dlock_check(h) == DLOCK_OK) {
		s->renewed = (int)stats(c).renewed;
		if (!frozen && s->at_once && s->renewed >= s->at_once) {
			CHECK_INT(kill(o->server, SIGSTOP), ==, 0);
			frozen = 1;
		}
		nap_ms(1);
	}
	s->lost_at_ms = now_ms();
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

static _Noreturn void act(struct actor *a)
{
	dlock_client *c = NULL;
	dlock_lock *l = NULL;
	struct order o;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(a->orders[0], &o, sizeof(o)) == sizeof(o)) {
		switch (o.deed) {
		case OPEN:
			dlock_lock_free(l);
			dlock_close(c);
			CHECK_OK(dlock_open(&c, o.uri, NULL));
			CHECK_OK(dlock_mutex_new(&l, c, "lock"));
			break;
		case TOUCH:
			CHECK_OK(dlock_release(take(l, 2 * PATIENCE)));
			break;
		case TAKE:
		case KEEP:
			take_and_lose(a->shared, c, l, &o);
			break;
		}
		CHECK_INT(write(a->answers[1], "", 1), ==, 1);
	}
	_exit(0);
}

/* Fork before this process has any thread. */
static void actor_start(struct actor *a)
{
	a->shared = mmap(NULL, sizeof(*a->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(a->shared != MAP_FAILED);
	CHECK_INT(pipe(a->orders), ==, 0);
	CHECK_INT(pipe(a->answers), ==, 0);
	a->pid = fork();
	CHECK_INT(a->pid, >=, 0);
	if (a->pid == 0) {
		close(a->orders[1]);
		act(a);
	}
	close(a->answers[1]); /* so the actor's end is heard */
}

static void tell(struct actor *a, enum deed deed, pid_t server, const char *uri)
{
	struct order o = { .deed = deed, .server = server };

	snprintf(o.uri, sizeof(o.uri), "%s", uri ? uri : "");
	a->shared->granted = a->shared->at_once = 0;
	a->shared->lost_at_ms = 0;
	CHECK_INT(write(a->orders[1], &o, sizeof(o)), ==, (int)sizeof(o));
}

static void hear(struct actor *a)
{
	struct pollfd p = { .fd = a->answers[0], .events = POLLIN };
	char byte;

	CHECK_INT(poll(&p, 1, 4 * PATIENCE), ==, 1);
	CHECK_INT(read(a->answers[0], &byte, 1), ==, 1);
}

static void do_it(struct actor *a, enum deed deed, const char *uri)
{
	tell(a, deed, 0, uri);
	hear(a);
}

static void open_with(struct actor *a, int port, int ttl_ms, int tick_ms)
{
	char uri[200];

	snprintf(uri, sizeof(uri),
		 "zk://127.0.0.1:%d/?ttl=%dms&tick=%dms&ask=2s&close=1s", port,
		 ttl_ms, tick_ms);
	do_it(a, OPEN, uri);
}

static void open_at(struct actor *a, int port)
{
	open_with(a, port, TTL_MS, TICK_MS);
}

/* ---- A scene ------------------------------------------------------------- */

struct stage {
	struct actor actor;
	struct lab_server *follower;
	dlock_lock *lock; /* the other client's */
};

static void stage_set(struct stage *s)
{
	struct lab_ensemble *e;

	memset(s, 0, sizeof(*s));
	actor_start(&s->actor);
	e = ensemble(&servers);
	s->follower = e->node[lab_ensemble_follower(e)];
	s->lock = mutex(client(e->node[lab_ensemble_leader(e)]->port,
			       "?ttl=30s&ask=2s&tick=200ms"),
			"lock");
}

/* The server is frozen.  Return by how much the hold ended before the other
 * client's began, in ms. */
static int64_t race(struct stage *s, const char *name)
{
	struct actor *a = &s->actor;
	struct taker heir = { 0 };
	int64_t by_ms;

	taker_start(&heir, s->lock, 2 * PATIENCE);
	EVENTUALLY(a->shared->lost_at_ms && heir.done);
	by_ms = heir.done_ms - a->shared->lost_at_ms;
	CHECK_INT(lab_server_resume(s->follower), ==, 0);
	CHECK_OK(waiter_join(&heir));
	hear(a);
	fprintf(stderr, "%s: %+" PRId64 " ms\n", name, by_ms);
	return by_ms;
}

/* The client sends nothing for `idle_ms`, and then is stopped for
 * `stopped_ms`. */
static void silence(struct actor *a, int idle_ms, int stopped_ms)
{
	nap_ms(idle_ms);
	if (stopped_ms == 0)
		return;
	CHECK_INT(kill(a->pid, SIGSTOP), ==, 0);
	nap_ms(stopped_ms);
}

/* The server freezes with the grant after the silence. */
static int64_t take_and_freeze(struct stage *s, const char *name, int idle_ms,
			       int stopped_ms)
{
	struct actor *a = &s->actor;

	do_it(a, TOUCH, NULL);
	silence(a, idle_ms, stopped_ms);
	tell(a, TAKE, lab_server_pid(s->follower), NULL);
	CHECK_INT(kill(a->pid, SIGCONT), ==, 0);
	EVENTUALLY(a->shared->granted);
	return race(s, name);
}

/* The client of a round is stopped for `step_ms` less than the client of the
 * round before; every fourth round begins anew. */
static void grants_overlap_nothing(const char *name, int ttl_ms, int tick_ms,
				   int idle_ms, int stopped_ms, int step_ms)
{
	struct stage s;
	int overlaps = 0;

	stage_set(&s);
	open_with(&s.actor, s.follower->port, ttl_ms, tick_ms);
	for (int i = 0; i < rounds(ROUNDS); i++)
		overlaps += take_and_freeze(&s, name, idle_ms,
					    stopped_ms - i % 4 * step_ms) < 0;
	CHECK_INT(overlaps, ==, 0);
	process_kill(s.actor.pid);
}

/* After a longer pause, the client library would connect again, which the
 * leader hears of. */
CASE(zk_scenes, a_grant_after_a_pause_overlaps_nothing)
{
	grants_overlap_nothing("grant after a pause", TTL_MS, TICK_MS, 0,
			       TTL_MS * 60 / 100, TTL_MS / 30);
}

CASE(zk_scenes, a_tick_below_the_servers_overlaps_nothing)
{
	grants_overlap_nothing("tick below the servers'", TTL_MS, TICK_MS / 50,
			       0, TTL_MS * 60 / 100, 0);
}

/* The shortest sessions of the servers. */
CASE(zk_scenes, a_short_ttl_overlaps_nothing)
{
	grants_overlap_nothing("short ttl", 4 * TICK_MS, TICK_MS, TICK_MS,
			       4 * TICK_MS * 38 / 100, 0);
}

/* Stop the client right behind a renewal, and freeze the server with the next
 * renewal.  0: the hold was lost before, as on a busy machine. */
static int renew_late(struct stage *s)
{
	struct shared *shared = s->actor.shared;
	int before;

	do_it(&s->actor, TOUCH, NULL);
	tell(&s->actor, KEEP, lab_server_pid(s->follower), NULL);
	EVENTUALLY(shared->granted);
	before = shared->renewed;
	EVENTUALLY(shared->renewed > before || shared->lost_at_ms);
	if (shared->lost_at_ms) {
		hear(&s->actor);
		return 0;
	}
	silence(&s->actor, TTL_MS * 26 / 100, TTL_MS * 27 / 100);
	shared->at_once = shared->renewed + 1;
	CHECK_INT(kill(s->actor.pid, SIGCONT), ==, 0);
	EVENTUALLY(shared->renewed >= shared->at_once || shared->lost_at_ms);
	return 1;
}

CASE(zk_scenes, a_late_renewal_overlaps_nothing)
{
	int overlaps = 0, lost = 0;
	struct stage s;

	stage_set(&s);
	open_at(&s.actor, s.follower->port);
	for (int i = 0; i < rounds(ROUNDS);) {
		if (!renew_late(&s)) {
			CHECK_INT(++lost, <, 10);
			continue;
		}
		overlaps += race(&s, "late renewal") < 0;
		i++;
	}
	CHECK_INT(overlaps, ==, 0);
	process_kill(s.actor.pid);
}
