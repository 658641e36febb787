/* SPDX-License-Identifier: Apache-2.0 */
/* The holder hears of a revoke. A revoke leaves no node behind. */
#include "zk/support.h"

#include <criterion/criterion.h>

#include "backends/zk/session.h"
#include "support/ticket.h"

TestSuite(zk_revoke, .timeout = 120);

#define DIR "/dlock/lnx"
#define PARAMS "?ttl=30s&ask=5s"
#define QUIET_MS 100

/* Another client and the holder's client revoke in turn. */
SHARED(zk_revoke, is_heard_each_time)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l[2] = { mutex(client(s->port, PARAMS), "x"),
			     mutex(c, "x") };
	struct ticket t;

	/* The lock is free. */
	CHECK_OK(dlock_revoke(l[0], PATIENCE));
	ticket_take(&t, c);
	for (int i = 0; i < 10; i++) {
		CHECK_INT(ticket_watch(&t), ==, 0);
		t.told = 0;
		CHECK_OK(dlock_revoke(l[i % 2], PATIENCE));
		CHECK(children_are(DIR, 1));
		EVENTUALLY(t.told);
	}
	ticket_give(&t);
}

/* The revoke arrives when the client has given up. */
SHARED(zk_revoke, leaves_nothing)
{
	struct lab_proxy *p = proxy(s);
	dlock_lock *l = mutex(client(lab_proxy_port(p), PARAMS), "x");
	dlock_hold *h = take(mutex(client(s->port, PARAMS), "x"), PATIENCE);

	lab_proxy_hold(p, "/revoke");
	CHECK_RC(dlock_revoke(l, 100), DLOCK_EUNREACHABLE);
	CHECK(children_are(DIR, 1));
	lab_proxy_deliver(p);
	EVENTUALLY(children_are(DIR, 1));
	ALL_ALONG(QUIET_MS, children_are(DIR, 1));
	give(h);
}

/* ---- Of a semaphore ------------------------------------------------------ */

#define PERMITS 5

static void ask_permit(struct ticket *t, dlock_client *c,
		       enum dlk_verdict expected)
{
	ticket_make(t, c, DLK_SHARED);
	t->base.request.kind = DLK_SEMAPHORE;
	t->base.request.key = "snx";
	t->base.request.limit = PERMITS;
	t->base.request.permits = 1;
	CHECK_INT(ticket_ask(t), ==, expected);
}

/* All holds of the session are told, and of the revoke alone.  No watch is
 * left. */
OWN(zk_revoke, of_permits)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l[2] = { semaphore(client(s->port, PARAMS), "x", PERMITS),
			     semaphore(c, "x", PERMITS) };
	struct ticket t[PERMITS], waiter;

	for (int i = 0; i < PERMITS; i++)
		ask_permit(&t[i], c, DLK_GRANTED);
	for (int n = 1; n <= 4; n++) {
		for (int i = 0; i < PERMITS; i++) {
			CHECK_INT(ticket_watch(&t[i]), ==, 0);
			CHECK_INT(ticket_last(&t[i]), ==, 0);
		}
		ask_permit(&waiter, client(s->port, PARAMS), DLK_BUSY);
		ticket_give(&waiter);
		CHECK_OK(dlock_semaphore_resize(l[0], PERMITS, PATIENCE));
		ALL_ALONG(QUIET_MS / 4, t[0].told == n - 1);
		CHECK_OK(dlock_revoke(l[n % 2], PATIENCE));
		for (int i = 0; i < PERMITS; i++)
			EVENTUALLY(t[i].told == n);
		CHECK(children_are("/dlock/snx", PERMITS));
	}
	CHECK_INT(ticket_watch(&t[0]), ==, 0);
	CHECK_INT(ticket_watch(&t[1]), ==, 0);
	for (int i = 0; i < PERMITS; i++)
		ticket_give(&t[i]);
	EVENTUALLY(watches(s) == 0);
	CHECK_OK(dlock_revoke(l[0], PATIENCE));
	CHECK_INT(t[0].told, ==, 4);
}

/* Take a permit behind the proxy, and make another client's handle. */
static struct lab_proxy *permit_behind_proxy(struct ticket *t, dlock_lock **l)
{
	struct lab_server *s = shared_server();
	struct lab_proxy *p = proxy(s);

	*l = semaphore(client(s->port, PARAMS), "x", PERMITS);
	ask_permit(t, client(lab_proxy_port(p), PARAMS), DLK_GRANTED);
	return p;
}

/* A revoke may come while there is no connection. */
CASE(zk_revoke, of_permits_perhaps_when_the_connection_is_lost)
{
	struct ticket t;
	dlock_lock *l;
	struct lab_proxy *p = permit_behind_proxy(&t, &l);

	EVENTUALLY(ticket_watch(&t) == 0);
	lab_proxy_reset(p);
	EVENTUALLY(t.told);
	EVENTUALLY(ticket_watch(&t) == 0);
	t.told = 0;
	CHECK_OK(dlock_revoke(l, PATIENCE));
	EVENTUALLY(t.told);
	ticket_give(&t);
}

/* The watch is set when watch_wanted() has returned. */
CASE(zk_revoke, of_permits_once_the_watch_is_set)
{
	struct ticket t;
	dlock_lock *l;
	struct lab_proxy *p = permit_behind_proxy(&t, &l);

	for (int i = 1; i <= 5; i++) {
		lab_proxy_delay(p, LAB_UP, 20);
		CHECK_INT(ticket_watch(&t), ==, 0);
		CHECK_OK(dlock_revoke(l, PATIENCE));
		EVENTUALLY(t.told == i);
	}
	ticket_give(&t);
}

/* The library finds the server silent for too long when it is to remove the
 * watch, and gives the connection up. */
CASE(zk_revoke, of_permits_is_over_with_the_connection)
{
	struct lab_server *server = shared_server();
	struct zk_session *s;
	struct ticket t;
	dlk_time until;

	ask_permit(&t, client(server->port, "?ttl=600ms&ask=5s"), DLK_GRANTED);
	EVENTUALLY(ticket_watch(&t) == 0);
	s = dlki_zk_session_of(t.base.session);
	pthread_mutex_lock(&s->mu);
	until = dlk_now() + dlki_zk_timeout_ns(s) * 3 / 4;
	EVENTUALLY(dlk_now() > until);
	CHECK(dlki_zk_is_up(s));
	dlki_zk_unwatch(s, t.zk.revokes);
	t.zk.revokes = NULL;
	CHECK(!dlki_zk_is_up(s));
	pthread_mutex_unlock(&s->mu);
	ticket_give(&t);
}

SHARED(zk_revoke, is_heard_past_a_node_made_by_hand)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_client *d = client(s->port, PARAMS);
	struct ticket t, permit;

	ticket_take(&t, c);
	ask_permit(&permit, c, DLK_GRANTED);
	make(DIR "/revoke");
	make("/dlock/snx/revoke");
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK_INT(ticket_watch(&permit), ==, 0);
	ALL_ALONG(QUIET_MS, t.told == 0 && permit.told == 0);
	CHECK_OK(dlock_revoke(mutex(d, "x"), PATIENCE));
	EVENTUALLY(t.told == 1);
	CHECK_OK(dlock_revoke(semaphore(d, "x", PERMITS), PATIENCE));
	EVENTUALLY(permit.told == 1);
	CHECK(children_are(DIR, 1));
	CHECK(children_are("/dlock/snx", 1));
	ticket_give(&t);
	ticket_give(&permit);
}
