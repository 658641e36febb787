/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two holders, if it were possible: a client in a process of its own is granted
 * a lock, or has it renewed, at the moment at which its ensemble has heard the
 * least of it, and the server that it is connected to freezes at once.  Another
 * client waits at the leader.
 */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lab/servers/ensemble.h"
#include "lab/base/fail.h"
#include "support/process.h"

TestSuite(zk_scenes, .timeout = 900);

/* As many ticks as there are by default. */
#define TICK_MS 200
#define TTL_MS 3000

static const struct lab_zk_options servers = { .tick_ms = TICK_MS,
					       .min_session_ms = 400 };

/* $DLOCK_TEST_ROUNDS asks for more.  One round in four or so hits nothing: the
 * leader happened to ping right before the server froze. */
static int rounds(void)
{
	const char *text = getenv("DLOCK_TEST_ROUNDS");

	return text ? (int)strtol(text, NULL, 10) : 2;
}

/* ---- The client that is stopped ------------------------------------------ */

enum what { OPEN, REFUSED, TOUCH, TAKE, KEEP };

struct order {
	enum what what;
	pid_t server; /* to be frozen */
	char uri[200];
};

struct shared {
	atomic_int granted, at_once; /* freeze after as many renewals */
	atomic_int renewed;
	_Atomic int64_t lost_at_ms;
};

struct actor {
	pid_t pid;
	int orders[2], answers[2];
	struct shared *shared;
};

static void hold_on(struct shared *s, dlock_client *c, dlock_lock *l,
		    const struct order *o)
{
	dlock_hold *h = take(l, 2 * PATIENCE);
	int frozen = o->what == TAKE;

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
		switch (o.what) {
		case OPEN:
			dlock_lock_free(l);
			dlock_close(c);
			c = NULL;
			CHECK_OK(dlock_open(&c, o.uri, NULL));
			CHECK_OK(dlock_mutex_new(&l, c, "lock"));
			break;
		case REFUSED:
			CHECK_RC(dlock_open(&c, o.uri, NULL), DLOCK_EINVAL);
			CHECK_TEXT(dlock_errmsg(), "tick=");
			break;
		case TOUCH:
			CHECK_OK(dlock_release(take(l, 2 * PATIENCE)));
			break;
		default:
			hold_on(a->shared, c, l, &o);
			break;
		}
		CHECK_INT(write(a->answers[1], "", 1), ==, 1);
	}
	_exit(0);
}

/* Forked before this process has any thread. */
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
	close(a->answers[1]); /* so that its end is heard */
}

static void tell(struct actor *a, enum what what, pid_t server, const char *uri)
{
	struct order o = { .what = what, .server = server };

	snprintf(o.uri, sizeof(o.uri), "%s", uri ? uri : "");
	a->shared->granted = 0;
	a->shared->at_once = 0;
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

static void do_it(struct actor *a, enum what what, const char *uri)
{
	tell(a, what, 0, uri);
	hear(a);
}

/* ---- A scene ------------------------------------------------------------- */

struct stage {
	struct actor actor;
	struct lab_ensemble *e;
	struct lab_server *follower;
	dlock_client *other;
	dlock_lock *lock; /* the other client's */
	struct taker heir;
};

static void stage_set(struct stage *s)
{
	int leader;

	memset(s, 0, sizeof(*s));
	actor_start(&s->actor);
	s->e = lab_ensemble_start(&servers);
	if (!s->e)
		FAIL("%s", lab_errmsg());
	leader = lab_ensemble_leader(s->e);
	s->follower = s->e->node[lab_ensemble_follower(s->e)];
	s->other = client(s->e->node[leader]->port,
			  "?ttl=30s&ask=2s&tick=200ms");
	s->lock = mutex(s->other, "lock");
}

static void stage_clear(struct stage *s)
{
	dlock_close(s->other);
	process_kill(s->actor.pid);
	lab_ensemble_free(s->e);
}

static void uri_of(char out[200], int port, int ttl_ms, int tick_ms)
{
	snprintf(out, 200,
		 "zk://127.0.0.1:%d/?ttl=%dms&tick=%dms&ask=2s&close=1s", port,
		 ttl_ms, tick_ms);
}

static void do_at_follower(struct stage *s, enum what what, int ttl_ms)
{
	char uri[200];

	uri_of(uri, s->follower->port, ttl_ms, TICK_MS);
	do_it(&s->actor, what, uri);
}

/* The server is frozen: who comes first?  Returns by how much in ms. */
static int64_t race(struct stage *s, const char *what)
{
	struct shared *page = s->actor.shared;
	int64_t by_ms;

	taker_start(&s->heir, s->lock, 2 * PATIENCE);
	EVENTUALLY(page->lost_at_ms && s->heir.done);
	by_ms = s->heir.done_ms - page->lost_at_ms;
	CHECK_INT(lab_server_resume(s->follower), ==, 0);
	CHECK_OK(taker_join(&s->heir));
	CHECK_OK(s->heir.release_rc);
	hear(&s->actor);
	fprintf(stderr, "%s: %+" PRId64 " ms\n", what, by_ms);
	return by_ms;
}

/* Say nothing for as long as the client library keeps silent, and then as long
 * as it is stopped. */
static void silence(struct actor *a, int idle_ms, int stopped_ms)
{
	nap_ms(idle_ms);
	if (stopped_ms == 0)
		return;
	CHECK_INT(kill(a->pid, SIGSTOP), ==, 0);
	nap_ms(stopped_ms);
}

static int64_t take_and_freeze(struct stage *s, const char *what, int idle_ms,
			       int stopped_ms)
{
	pid_t server = lab_server_pid(s->follower);

	do_it(&s->actor, TOUCH, NULL);
	silence(&s->actor, idle_ms, stopped_ms);
	tell(&s->actor, TAKE, server, NULL);
	CHECK_INT(kill(s->actor.pid, SIGCONT), ==, 0);
	EVENTUALLY(s->actor.shared->granted);
	return race(s, what);
}

/* Longer, and the client library would connect again, which the leader hears
 * of. */
Test(zk_scenes, a_grant_after_a_pause_overlaps_nothing)
{
	struct stage s;
	int overlaps = 0;

	stage_set(&s);
	do_at_follower(&s, OPEN, TTL_MS);
	for (int i = 0; i < rounds(); i++) {
		int stopped = TTL_MS * 60 / 100 - i % 4 * TTL_MS / 30;

		overlaps += take_and_freeze(&s, "grant after a pause", 0,
					    stopped) < 0;
	}
	CHECK_INT(overlaps, ==, 0);
	stage_clear(&s);
}

Test(zk_scenes, a_tick_below_the_servers_overlaps_nothing)
{
	struct stage s;
	char uri[200];
	int overlaps = 0;

	stage_set(&s);
	uri_of(uri, s.follower->port, TTL_MS, TICK_MS / 50);
	do_it(&s.actor, OPEN, uri);
	for (int i = 0; i < rounds(); i++)
		overlaps += take_and_freeze(&s, "tick below the servers'", 0,
					    TTL_MS * 60 / 100) < 0;
	CHECK_INT(overlaps, ==, 0);
	stage_clear(&s);
}

Test(zk_scenes, a_late_renewal_overlaps_nothing)
{
	struct stage s;
	int overlaps = 0;

	stage_set(&s);
	do_at_follower(&s, OPEN, TTL_MS);
	for (int i = 0, lost = 0; i < rounds(); i++) {
		struct shared *page = s.actor.shared;
		int before;

		do_it(&s.actor, TOUCH, NULL);
		tell(&s.actor, KEEP, lab_server_pid(s.follower), NULL);
		EVENTUALLY(page->granted);
		before = page->renewed;
		EVENTUALLY(page->renewed > before || page->lost_at_ms);
		if (page->lost_at_ms) { /* the machine is too busy: once more */
			CHECK_INT(++lost, <, 10);
			hear(&s.actor);
			i--;
			continue;
		}
		silence(&s.actor, TTL_MS * 26 / 100, TTL_MS * 27 / 100);
		page->at_once = page->renewed + 1;
		CHECK_INT(kill(s.actor.pid, SIGCONT), ==, 0);
		EVENTUALLY(page->renewed >= page->at_once || page->lost_at_ms);
		overlaps += race(&s, "late renewal") < 0;
	}
	CHECK_INT(overlaps, ==, 0);
	stage_clear(&s);
}

/* The shortest sessions that the servers have, and the shortest that we do. */
Test(zk_scenes, a_short_ttl_overlaps_nothing)
{
	struct stage s;
	int overlaps = 0;

	stage_set(&s);
	do_at_follower(&s, REFUSED, 3 * TICK_MS / 2);
	do_at_follower(&s, OPEN, 4 * TICK_MS);
	for (int i = 0; i < rounds(); i++)
		overlaps += take_and_freeze(&s, "short ttl", TICK_MS,
					    4 * TICK_MS * 38 / 100) < 0;
	CHECK_INT(overlaps, ==, 0);
	stage_clear(&s);
}

/* The client was opened when there was one server by itself. */
Test(zk_scenes, a_server_that_became_an_ensemble_overlaps_nothing)
{
	struct lab_address to;
	struct lab_server *alone;
	struct lab_proxy *p;
	struct stage s;
	char uri[200];
	int overlaps = 0;

	stage_set(&s);
	alone = server(&servers);
	p = proxy(alone);
	uri_of(uri, lab_proxy_port(p), TTL_MS, TICK_MS);
	for (int i = 0; i < rounds(); i++) {
		to = lab_server_address(alone);
		CHECK_INT(lab_proxy_aim(p, &to), ==, 0);
		do_it(&s.actor, OPEN, uri);
		do_it(&s.actor, TOUCH, NULL);
		to = lab_server_address(s.follower);
		CHECK_INT(lab_proxy_aim(p, &to), ==, 0);
		lab_proxy_reset(p);
		overlaps += take_and_freeze(&s, "became an ensemble",
					    TTL_MS * 29 / 100, 0) < 0;
	}
	CHECK_INT(overlaps, ==, 0);
	stage_clear(&s);
	lab_proxy_free(p);
	lab_server_free(alone);
}
