/* SPDX-License-Identifier: Apache-2.0 */
/* One server of three has frozen: it takes connections, and says nothing. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/servers/ensemble.h"
#include "lab/base/fail.h"

TestSuite(zk_frozen, .timeout = 600);

#define TICK_MS 100 /* of all clients here */

static struct lab_ensemble *ensemble(void)
{
	struct lab_ensemble *e = lab_ensemble_start(NULL);

	if (!e)
		FAIL("%s", lab_errmsg());
	return e;
}

/* $DLOCK_TEST_ROUNDS asks for more. */
static int rounds(int otherwise)
{
	const char *text = getenv("DLOCK_TEST_ROUNDS");

	return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void uri_of(char out[256], const int port[LAB_NODES], const char *params)
{
	snprintf(out, 256, "zk://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/%s",
		 port[0], port[1], port[2], params);
}

/* As a rule the client is connected to that node when it freezes. */
static dlock_client *client_at(struct lab_proxy *const way[LAB_NODES], int node)
{
	dlock_client *c = NULL;
	int port[LAB_NODES];
	char uri[256];

	for (int i = 0; i < LAB_NODES; i++) {
		port[i] = lab_proxy_port(way[i]);
		lab_proxy_refuse(way[i], i != node);
	}
	uri_of(uri, port, "?ttl=2s&tick=100ms&ask=2s&connect=10s");
	CHECK_OK(dlock_open(&c, uri, NULL));
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_refuse(way[i], false);
	return c;
}

/* Frozen at different times between two renewals. */
Test(zk_frozen, a_hold_survives_its_server)
{
	struct lab_ensemble *e = ensemble();
	int follower = lab_ensemble_follower(e);
	struct lab_proxy *way[LAB_NODES];
	int survived = 0;

	for (int i = 0; i < LAB_NODES; i++)
		way[i] = proxy(e->node[i]);
	for (int i = 0; i < rounds(2); i++) {
		dlock_client *c = client_at(way, follower);
		dlock_hold *h = take(mutex(c, "lock"), PATIENCE);
		uint64_t renewed = stats(c).renewed;

		EVENTUALLY(stats(c).renewed > renewed);
		/* Less than two ticks are off, after a renewal that was
		 * answered in time. */
		EVENTUALLY(dlock_remaining_ms(h) > dlock_ttl_ms(c) * 2 / 3);
		nap_ms(i * 640 % 700);
		CHECK_INT(lab_server_pause(e->node[follower]), ==, 0);
		/* What nobody renews is over after one lease. */
		nap_ms(2 * dlock_ttl_ms(c));
		survived += dlock_check(h) == DLOCK_OK;
		/* It takes others, too. */
		CHECK_OK(dlock_release(take(mutex(c, "other"), PATIENCE)));
		CHECK_INT(lab_server_resume(e->node[follower]), ==, 0);
		nap_ms(3 * TICK_MS); /* it hears what it has missed */
		survived += dlock_check(h) == DLOCK_OK;
		CHECK_OK(dlock_release(h));
		dlock_close(c);
	}
	CHECK_INT(survived, ==, 2 * rounds(2));
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_free(way[i]);
	lab_ensemble_free(e);
}

/* Its watch was on the way: the next server is asked for it. */
Test(zk_frozen, a_waiter_survives_its_server)
{
	struct lab_ensemble *e = ensemble();
	int follower = lab_ensemble_follower(e);
	dlock_client *other = client(e->node[lab_ensemble_leader(e)]->port,
				     "?ttl=30s&ask=2s&tick=100ms");
	dlock_hold *h = take(mutex(other, "lock"), PATIENCE);
	zhandle_t *there = bare(e->node[follower]->port);
	struct lab_proxy *way[LAB_NODES];
	struct taker w = { 0 };
	dlock_client *c;
	char node[256];

	for (int i = 0; i < LAB_NODES; i++)
		way[i] = proxy(e->node[i]);
	EVENTUALLY(children(there, "/dlock/lnlock", node) == 1);
	c = client_at(way, follower);
	CHECK_OK(dlock_release(take(mutex(c, "other"), PATIENCE)));
	lab_proxy_hold(way[follower], node);
	taker_start(&w, mutex(c, "lock"), FOREVER);
	EVENTUALLY(lab_proxy_stat(way[follower], LAB_HELD) == 1);
	EVENTUALLY(stats(c).waiters == 1);
	ALL_ALONG(dlock_ttl_ms(c) / 2, !w.done);
	CHECK_OK(dlock_release(h));
	EVENTUALLY(w.done);
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	dlock_close(c);
	dlock_close(other);
	zookeeper_close(there);
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_free(way[i]);
	lab_ensemble_free(e);
}

/* Whichever server comes first in a client's order. */
Test(zk_frozen, does_not_keep_clients_from_opening)
{
	struct lab_ensemble *e = ensemble();
	int follower = lab_ensemble_follower(e);
	int port[LAB_NODES], opened = 0;
	char uri[256];

	for (int i = 0; i < LAB_NODES; i++)
		port[i] = e->node[i]->port;
	uri_of(uri, port, "?tick=100ms&connect=2s&ask=2s");
	CHECK_INT(lab_server_pause(e->node[follower]), ==, 0);
	for (int i = 0; i < rounds(12); i++) {
		dlock_client *c = NULL;

		if (dlock_open(&c, uri, NULL) != DLOCK_OK)
			continue;
		opened++;
		CHECK_OK(dlock_release(take(mutex(c, "lock"), PATIENCE)));
		dlock_close(c);
	}
	cr_log_info("%d of %d opened", opened, rounds(12));
	CHECK_INT(opened, ==, rounds(12));
	lab_ensemble_free(e);
}

/* A server with a higher limit grants more to a session that moves to it, and a
 * new leader gives the session the time-out that it began with. */
Test(zk_frozen, a_move_makes_no_session_longer)
{
	enum { LOW_MS = 2000, MOST_MS = LOW_MS / 20 * 19 };
	struct lab_zk_options o = { .max_session_ms = 60000,
				    .max_session_of_first_ms = LOW_MS };
	struct lab_ensemble *e = lab_ensemble_start(&o);
	struct lab_proxy *way[LAB_NODES];
	dlock_client *c = NULL;
	int port[LAB_NODES];
	char uri[256];
	dlock_hold *h;

	if (!e)
		FAIL("%s", lab_errmsg());
	for (int i = 0; i < LAB_NODES; i++) {
		way[i] = proxy(e->node[i]);
		port[i] = lab_proxy_port(way[i]);
		lab_proxy_refuse(way[i], i != 0);
	}
	uri_of(uri, port, "?ttl=30s&tick=100ms&ask=2s&connect=10s");
	CHECK_OK(dlock_open(&c, uri, NULL));
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_refuse(way[i], false);
	h = take(mutex(c, "lock"), PATIENCE);
	CHECK_INT(dlock_remaining_ms(h), <=, MOST_MS);
	CHECK_INT(lab_server_pause(e->node[0]), ==, 0);
	for (int i = 0; i < 3; i++) {
		uint64_t renewed = stats(c).renewed;

		EVENTUALLY(stats(c).renewed > renewed);
		CHECK_INT(dlock_remaining_ms(h), <=, MOST_MS);
	}
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
	h = take(mutex(c, "other"), PATIENCE);
	CHECK_INT(dlock_remaining_ms(h), <=, MOST_MS);
	CHECK_OK(dlock_release(h));
	CHECK_INT(lab_server_resume(e->node[0]), ==, 0);
	dlock_close(c);
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_free(way[i]);
	lab_ensemble_free(e);
}

/* ---- What else a lease meets --------------------------------------------- */

/* A lease rests on four round trips, of which each takes a tenth of the ttl. */
Test(zk_frozen, a_slow_way_is_no_frozen_server)
{
	struct lab_ensemble *e = ensemble();
	struct lab_proxy *p = proxy(e->node[lab_ensemble_follower(e)]);
	dlock_client *c = client(lab_proxy_port(p),
				 "?ttl=2s&tick=100ms&ask=4s");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h;

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	lab_proxy_delay(p, LAB_UP, 100);
	lab_proxy_delay(p, LAB_DOWN, 100);
	h = take(l, PATIENCE);
	EVENTUALLY(stats(c).renewed >= 4); /* more than a lease later */
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
	dlock_close(c);
	lab_proxy_free(p);
	lab_ensemble_free(e);
}

/* The servers' limits were lowered: what is taken from now on is shorter. */
Test(zk_frozen, lower_limits_leave_an_open_client_of_use)
{
	struct lab_zk_options low = { .max_session_ms = 1000 };
	struct lab_server *before = server(NULL), *after = server(&low);
	struct lab_address to = lab_server_address(after);
	struct lab_proxy *p = proxy(before);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=2s");
	zhandle_t *there = bare(after->port);
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h;

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	/* One that has seen less would be refused by the library. */
	for (int i = 0; i < 20; i++) {
		make(there, "/past");
		drop(there, "", "past");
	}
	zookeeper_close(there);
	CHECK_INT(lab_proxy_aim(p, &to), ==, 0);
	lab_proxy_reset(p);
	h = take(l, PATIENCE);
	CHECK_INT(dlock_remaining_ms(h), <=, 1000);
	EVENTUALLY(stats(c).renewed >= 3);
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
	dlock_close(c);
	lab_proxy_free(p);
	lab_server_free(before);
	lab_server_free(after);
}
