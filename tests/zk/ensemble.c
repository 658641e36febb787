/* SPDX-License-Identifier: Apache-2.0 */
/* Three nodes, of which one goes, or is cut off. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/servers/ensemble.h"
#include "lab/base/fail.h"

TestSuite(zk_ensemble, .timeout = 180);

static struct lab_ensemble *ensemble(const struct lab_zk_options *options)
{
	struct lab_ensemble *e = lab_ensemble_start_linked(options);

	if (!e)
		FAIL("%s", lab_errmsg());
	return e;
}

static dlock_client *client_of_all(const struct lab_ensemble *e,
				   const char *params)
{
	dlock_client *c = NULL;
	char uri[256];

	snprintf(uri, sizeof(uri),
		 "zk://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/%s",
		 e->node[0]->port, e->node[1]->port, e->node[2]->port, params);
	CHECK_OK(dlock_open(&c, uri, NULL));
	return c;
}

/* Holds and waiters live through the death of any node. */
Test(zk_ensemble, a_hold_survives_its_leader)
{
	struct lab_ensemble *e = ensemble(NULL);
	dlock_client *a = client_of_all(e, "?ttl=20s&ask=2s&tick=100ms");
	dlock_client *b = client_of_all(e, "?ttl=20s&ask=2s&tick=100ms");
	dlock_lock *mine = mutex(a, "lock"), *theirs = mutex(b, "lock");
	uint64_t token = 0;

	for (int i = 0; i < 3; i++) {
		dlock_hold *h = take(mine, FOREVER);
		struct taker w = { 0 };
		int leader;

		CHECK_INT(dlock_token(h), >, token);
		token = dlock_token(h);
		taker_start(&w, theirs, FOREVER);
		EVENTUALLY(stats(b).waiters == 1);
		leader = lab_ensemble_leader(e);
		CHECK_INT(leader, >=, 0);
		CHECK_INT(lab_server_kill(e->node[leader]), ==, 0);
		EVENTUALLY(lab_ensemble_leader(e) >= 0);
		CHECK_OK(dlock_check(h));
		EVENTUALLY(stats(b).waiters == 1 && !w.done);
		dlock_release(h);
		CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
		CHECK_INT(lab_server_restart(e->node[leader], true), ==, 0);
		CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	}
	CHECK_INT(stats(a).lost, ==, 0);
	dlock_close(a);
	dlock_close(b);
	lab_ensemble_free(e);
}

/* Two nodes of three are gone: without agreement there is no grant. */
Test(zk_ensemble, a_minority_grants_nothing)
{
	struct lab_ensemble *e = ensemble(NULL);
	dlock_client *a = client_of_all(e, "?ttl=2s&close=500ms&tick=100ms");
	dlock_lock *l = mutex(a, "lock");
	dlock_hold *h = take(l, PATIENCE), *none = NULL;
	int leader = lab_ensemble_leader(e);

	CHECK_INT(lab_server_pause(e->node[leader]), ==, 0);
	CHECK_INT(lab_server_kill(e->node[(leader + 1) % LAB_NODES]), ==, 0);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_RC(dlock_acquire(l, 1000, &none), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_server_resume(e->node[leader]), ==, 0);
	CHECK_INT(lab_server_restart(e->node[(leader + 1) % LAB_NODES], true),
		  ==, 0);
	CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
	dlock_close(a);
	lab_ensemble_free(e);
}

/* ---- A follower that is cut off from its leader -------------------------- */

/* It goes on serving for sixty ticks. */
#define CUT_OFF "syncLimit=60\n"
#define DIR "/dlock/lnlock"

/* Nothing can be enqueued in time, but a listing of the queue tells enough. */
Test(zk_ensemble, a_try_of_a_held_lock_is_busy_though_nothing_is_written)
{
	struct lab_zk_options o = { .config = CUT_OFF };
	struct lab_ensemble *e = ensemble(&o);
	int follower = lab_ensemble_follower(e);
	dlock_client *a, *b;
	dlock_hold *h, *none = NULL;
	dlock_lock *l;

	CHECK_INT(follower, >=, 0);
	a = client(e->node[follower]->port, "?ttl=30s&close=300ms");
	b = client(e->node[follower]->port, "?ttl=30s&ask=150ms&close=300ms");
	h = take(mutex(a, "lock"), PATIENCE);
	l = mutex(b, "lock");
	CHECK_INT(lab_server_pause(e->node[lab_ensemble_leader(e)]), ==, 0);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	CHECK_OK(dlock_check(h));
	dlock_close(b);
	dlock_close(a);
	lab_ensemble_free(e);
}

static _Atomic int64_t lost_at_ms;

static void note_loss(dlock_hold *hold, enum dlock_event event, const char *why,
		      void *arg)
{
	(void)hold;
	(void)why;
	(void)arg;
	if (event == DLOCK_LOST)
		atomic_store(&lost_at_ms, now_ms());
}

static dlock_client *client_that_notes(int port, const char *params)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;
	char uri[128];

	opts.on_event = note_loss;
	snprintf(uri, sizeof(uri), "zk://127.0.0.1:%d/%s", port, params);
	CHECK_OK(dlock_open(&c, uri, &opts));
	return c;
}

/* A client that trusted its connection, or its reads, would be wrong for
 * seconds. */
Test(zk_ensemble, a_holder_whose_follower_is_cut_off_knows_in_time)
{
	struct lab_zk_options o = { .config = CUT_OFF };
	struct lab_ensemble *e = ensemble(&o);
	int leader = lab_ensemble_leader(e);
	int follower = lab_ensemble_follower(e);
	dlock_client *a = client_that_notes(e->node[follower]->port,
					    "?ttl=2s&tick=100ms");
	dlock_client *b = client(e->node[leader]->port,
				 "?ttl=20s&ask=2s&tick=100ms");
	zhandle_t *there = bare(e->node[follower]->port);
	zhandle_t *here = bare(e->node[leader]->port);
	dlock_hold *h = take(mutex(a, "lock"), PATIENCE);
	struct taker heir = { .linger = 1 };

	taker_start(&heir, mutex(b, "lock"), PATIENCE);
	EVENTUALLY(stats(b).waiters == 1);
	EVENTUALLY(children_are(there, DIR, 2));
	lab_ensemble_cut(e, leader, follower, true);
	EVENTUALLY(heir.done);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK(lost_at_ms);
	CHECK_INT(lost_at_ms, <, heir.done_ms);
	cr_log_info("LOST %" PRId64 " ms before the next holder",
		    heir.done_ms - lost_at_ms);
	/* The follower would still have it that the lock is held. */
	CHECK_INT(children(here, DIR, NULL), ==, 1);
	CHECK_INT(children(there, DIR, NULL), ==, 2);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	lab_ensemble_cut(e, leader, follower, false);
	CHECK_OK(let_go(&heir));
	CHECK_OK(heir.release_rc);
	CHECK_OK(dlock_release(take(mutex(a, "lock"), PATIENCE)));
	zookeeper_close(there);
	zookeeper_close(here);
	dlock_close(a);
	dlock_close(b);
	lab_ensemble_free(e);
}

/* ---- A leader that dies -------------------------------------------------- */

/* $DLOCK_TEST_ROUNDS asks for more. */
static int rounds(void)
{
	const char *text = getenv("DLOCK_TEST_ROUNDS");

	return text ? (int)strtol(text, NULL, 10) : 3;
}

/* ---- A session that has moved -------------------------------------------- */

enum { LOW_MS = 2000 };

static void refuse(struct lab_proxy *const way[LAB_NODES], bool first,
		   bool others)
{
	for (int i = 0; i < LAB_NODES; i++) {
		lab_proxy_refuse(way[i], i == 0 ? first : others);
		lab_proxy_reset(way[i]);
	}
}

static int sessions(struct lab_ensemble *e)
{
	return (int)lab_zk_number(e->node[1], "mntr", "zk_global_sessions");
}

/* The client's second session began at the first node, which has the lower
 * limit, and has moved on. */
static dlock_client *client_that_moved(struct lab_ensemble *e,
				       struct lab_proxy *const way[LAB_NODES])
{
	dlock_client *c = NULL;
	dlock_hold *h;
	char uri[256];

	EVENTUALLY(sessions(e) == 1); /* the other client's */
	refuse(way, true, false);
	snprintf(uri, sizeof(uri),
		 "zk://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/"
		 "?ttl=8s&tick=100ms&ask=2s&connect=10s&close=1s",
		 lab_proxy_port(way[0]), lab_proxy_port(way[1]),
		 lab_proxy_port(way[2]));
	CHECK_OK(dlock_open(&c, uri, NULL));
	EVENTUALLY(sessions(e) == 2);
	refuse(way, true, true);
	EVENTUALLY(sessions(e) == 1);
	refuse(way, false, true);
	h = take(mutex(c, "another"), PATIENCE);
	CHECK_INT(dlock_remaining_ms(h), <, LOW_MS);
	CHECK_OK(dlock_release(h));
	refuse(way, true, false);
	return c;
}

static void cut_off(struct lab_proxy *const way[LAB_NODES], bool on)
{
	for (int i = 0; i < LAB_NODES; i++) {
		lab_proxy_hole(way[i], LAB_UP, on);
		lab_proxy_hole(way[i], LAB_DOWN, on);
	}
}

/* The leader dies when the holder is cut off.  Returns by how much the hold
 * ended before the next began, in ms. */
static int64_t lose_leader(struct lab_ensemble *e, dlock_client *other,
			   struct lab_proxy *const way[LAB_NODES])
{
	dlock_client *c = client_that_moved(e, way);
	dlock_hold *h = take(mutex(c, "lock"), PATIENCE);
	struct taker heir = { 0 };
	int leader = lab_ensemble_leader(e);
	uint64_t renewed = stats(c).renewed;
	int64_t lost_ms;

	taker_start(&heir, mutex(other, "lock"), PATIENCE);
	EVENTUALLY(stats(other).waiters == 1);
	EVENTUALLY(stats(c).renewed > renewed);
	CHECK_OK(dlock_check(h));
	cut_off(way, true);
	CHECK_INT(lab_server_kill(e->node[leader]), ==, 0);
	EVENTUALLY(dlock_check(h) != DLOCK_OK);
	lost_ms = now_ms();
	EVENTUALLY(heir.done);
	CHECK_OK(taker_join(&heir));
	CHECK_OK(heir.release_rc);
	CHECK_INT(lab_server_restart(e->node[leader], true), ==, 0);
	CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	cut_off(way, false);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	dlock_close(c);
	fprintf(stderr,
		"moved: the hold ended %+" PRId64 " ms before the next\n",
		heir.done_ms - lost_ms);
	return heir.done_ms - lost_ms;
}

/* A server with a higher limit grants more to a session that moves there.  The
 * new leader gives the session the time-out that it was made with. */
Test(zk_ensemble, a_moved_session_overlaps_nothing_at_a_new_leader,
     .timeout = 1200)
{
	struct lab_zk_options o = { .max_session_ms = 60000,
				    .max_session_of_first_ms = LOW_MS };
	struct lab_ensemble *e = lab_ensemble_start(&o);
	struct lab_proxy *way[LAB_NODES];
	dlock_client *other = NULL;
	int overlaps = 0;
	char uri[128];

	if (!e)
		FAIL("%s", lab_errmsg());
	for (int i = 0; i < LAB_NODES; i++)
		way[i] = proxy(e->node[i]);
	snprintf(uri, sizeof(uri),
		 "zk://127.0.0.1:%d,127.0.0.1:%d/?ttl=30s&ask=2s&tick=100ms",
		 e->node[1]->port, e->node[2]->port);
	CHECK_OK(dlock_open(&other, uri, NULL));
	for (int i = 0; i < rounds(); i++)
		overlaps += lose_leader(e, other, way) < 0;
	CHECK_INT(overlaps, ==, 0);
	dlock_close(other);
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_free(way[i]);
	lab_ensemble_free(e);
}

/* ---- Waiters ------------------------------------------------------------- */

/* The release comes before, while and after the others agree on another leader.
 * Whatever messages are lost, every waiter has its turn. */
Test(zk_ensemble, waiters_outlive_their_leader, .timeout = 1200)
{
	enum { WAITERS = 6 };
	struct lab_ensemble *e = ensemble(NULL);
	dlock_client *c[3];
	dlock_lock *l[3];
	struct taker w[WAITERS] = { 0 };

	for (int i = 0; i < 3; i++) {
		c[i] = client_of_all(e, "?ttl=10s&ask=2s&tick=100ms");
		l[i] = mutex(c[i], "lock");
	}
	for (int i = 0; i < rounds(); i++) {
		dlock_hold *h = take(l[0], PATIENCE);
		int leader = lab_ensemble_leader(e);
		int rc;

		for (int j = 0; j < WAITERS; j++)
			taker_start(&w[j], l[1 + j % 2], 2 * PATIENCE);
		EVENTUALLY(stats(c[1]).waiters + stats(c[2]).waiters ==
			   WAITERS);
		CHECK_INT(leader, >=, 0);
		CHECK_INT(lab_server_kill(e->node[leader]), ==, 0);
		nap_ms(i % 7 * 100);
		rc = dlock_release(h);
		CHECK(rc == DLOCK_OK || rc == DLOCK_EUNREACHABLE);
		for (int j = 0; j < WAITERS; j++)
			CHECK_INT(waiter_join(&w[j]), ==, DLOCK_OK);
		CHECK_INT(lab_server_restart(e->node[leader], true), ==, 0);
		CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	}
	for (int i = 0; i < 3; i++) {
		CHECK_INT(stats(c[i]).lost, ==, 0);
		dlock_close(c[i]);
	}
	lab_ensemble_free(e);
}
