/* SPDX-License-Identifier: Apache-2.0 */
/* The session that has a claim is told that other sessions want the claim. */
#include "zk/support.h"

#include <criterion/criterion.h>

#include "zk/log.h"
#include "support/ticket.h"

TestSuite(zk_wanted, .timeout = 120);

#define DIR "/dlock/lnx"
#define PARAMS "?ttl=30s&ask=5s"
#define QUIET_MS 100

SHARED(zk_wanted, not_if_it_is_not_watched)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l = mutex(client(s->port, PARAMS), "x");
	struct ticket t, next;

	ticket_take(&t, c);
	is_busy(l);
	ALL_ALONG(QUIET_MS, !t.told);
	ticket_give(&t);
	/* The watch ends with the claim. */
	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	ticket_give(&t);
	ticket_take(&next, c);
	is_busy(l);
	ALL_ALONG(QUIET_MS, !t.told && !next.told);
	ticket_give(&next);
}

/* The session's waiters stay, and tries come and go. */
SHARED(zk_wanted, not_by_its_own_session)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l[2] = { mutex(c, "x"),
			     mutex(client(s->port, PARAMS), "x") };
	struct ticket t, own[2];

	ticket_take(&t, c);
	ticket_make(&own[0], c, DLK_SHARED);
	ticket_make(&own[1], c, DLK_EXCLUSIVE);
	CHECK_INT(ticket_ask(&own[0]), ==, DLK_BUSY);
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK_INT(ticket_ask(&own[1]), ==, DLK_BUSY);
	for (int i = 0; i < 20; i++)
		is_busy(l[0]);
	ticket_give(&own[0]);
	CHECK_INT(ticket_watch(&t), ==, 0);
	is_busy(l[0]);
	ALL_ALONG(QUIET_MS, !t.told);
	is_busy(l[1]);
	EVENTUALLY(t.told);
	ticket_give(&own[1]);
	ticket_give(&t);
}

SHARED(zk_wanted, perhaps_when_too_many_wait_to_tell)
{
	enum { MANY = 65 };
	static struct ticket own[MANY];
	dlock_client *c = client(s->port, PARAMS);
	struct ticket t;

	ticket_take(&t, c);
	for (int i = 0; i < MANY; i++) {
		CHECK_INT(ticket_watch(&t), ==, 0);
		ticket_queue(&own[i], c, DLK_EXCLUSIVE);
	}
	CHECK_INT(ticket_watch(&t), ==, 1);
	for (int i = 0; i < MANY; i++)
		ticket_give(&own[i]);
	ticket_give(&t);
}

/* The nodes of a crowd are not all read. */
OWN(zk_wanted, by_a_crowd_at_little_cost)
{
	enum { CROWD = 40 };
	static struct ticket crowd[CROWD];
	dlock_client *c = client(s->port, PARAMS);
	dlock_client *d = client(s->port, PARAMS);
	struct ticket t;
	int64_t before;

	ticket_take(&t, c);
	for (int i = 0; i < CROWD; i++)
		ticket_queue(&crowd[i], i % 4 ? c : d, DLK_EXCLUSIVE);
	for (int i = 0; i < 2; i++) {
		before = lab_zk_number(s, "srvr", "Received");
		CHECK_INT(ticket_watch(&t), ==, 1);
		CHECK(ticket_last(&t) < crowd[i].zk.token);
		CHECK_INT(lab_zk_number(s, "srvr", "Received") - before, <, 15);
		ticket_give(&crowd[i]);
	}
	for (int i = 2; i < CROWD; i++)
		ticket_give(&crowd[i]);
	ticket_give(&t);
}

/* Other sessions may want the claim while there is no connection. */
SHARED(zk_wanted, perhaps_when_the_connection_is_lost)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), PARAMS);
	dlock_client *d = client(s->port, PARAMS);
	struct ticket t, other;

	ticket_take(&t, c);
	lab_proxy_reset(p);
	EVENTUALLY(ticket_watch(&t) == 0);
	t.told = 0;
	lab_proxy_reset(p);
	EVENTUALLY(t.told);
	EVENTUALLY(ticket_watch(&t) == 0);
	t.told = 0;
	ticket_queue(&other, d, DLK_EXCLUSIVE);
	EVENTUALLY(t.told);
	ticket_give(&other);
	ticket_give(&t);
}

static void drop_directory(void)
{
	char name[256];

	while (children(DIR, name) > 0)
		drop(DIR, name);
	drop("/dlock", "lnx");
}

/* Another client has the lock before the watching session looks. */
SHARED(zk_wanted, when_the_directory_is_made_again)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), PARAMS);
	dlock_client *d = client(s->port, PARAMS);
	struct ticket t, next;

	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK(ticket_last(&t) > t.base.token);
	lab_proxy_hole(p, LAB_DOWN, true);
	drop_directory();
	ticket_take(&next, d);
	CHECK(next.base.token > ticket_last(&t));
	CHECK_INT(t.told, ==, 0);
	lab_proxy_heal(p);
	EVENTUALLY(t.told);
	CHECK_INT(ticket_watch(&t), ==, DLOCK_ELOST);
	ticket_give(&next);
	(void)ticket_release(&t);
}

/* ---- Beside a request of the session ------------------------------------- */

struct scene {
	struct lab_server *server;
	struct lab_proxy *proxy;
	struct ticket t, own; /* the holder, and the waiter that gives up */
	struct ticket stays;  /* keeps the directory */
	pthread_t thread;
};

static void *give_up(void *own)
{
	ticket_give(own);
	return NULL;
}

/* The session's waiter gives up, and the deletion is held up. */
static void begin(struct scene *s, struct lab_server *server)
{
	dlock_client *c;

	s->server = server;
	s->proxy = proxy(server);
	c = client(lab_proxy_port(s->proxy), PARAMS);
	ticket_take(&s->t, c);
	ticket_queue(&s->stays, c, DLK_EXCLUSIVE);
	ticket_queue(&s->own, c, DLK_SHARED);
	CHECK_INT(ticket_watch(&s->t), ==, 0);
	lab_proxy_hold(s->proxy, "-s-");
	CHECK(pthread_create(&s->thread, NULL, give_up, &s->own) == 0);
	EVENTUALLY(lab_proxy_stat(s->proxy, LAB_HELD) > 0);
}

static void end(struct scene *s)
{
	ALL_ALONG(QUIET_MS, !s->t.told);
	lab_proxy_deliver(s->proxy);
	EVENTUALLY(s->t.told);
	pthread_join(s->thread, NULL);
	ticket_give(&s->stays);
	(void)ticket_release(&s->t);
}

static void try_it(struct lab_server *s)
{
	is_busy(mutex(client(s->port, PARAMS), "x"));
}

CASE(zk_wanted, by_a_try_beside_its_own)
{
	static struct scene s;

	begin(&s, shared_server());
	try_it(s.server);
	end(&s);
}

CASE(zk_wanted, by_a_break_beside_its_own)
{
	static struct scene s;

	begin(&s, shared_server());
	drop(DIR, s.t.zk.node);
	end(&s);
}

/* The numbers do not count the nodes any more. */
CASE(zk_wanted, by_a_try_past_the_last_number)
{
	struct lab_server *old = zk_log_old_server(DIR);
	static struct scene s;
	dlock_lock *l = mutex(client(old->port, PARAMS), "x");

	for (int i = 0; i < 8; i++)
		taken(l);
	begin(&s, old);
	try_it(old);
	end(&s);
}

OWN(zk_wanted, leaves_no_watch)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l = mutex(client(s->port, PARAMS), "x");
	struct ticket t;

	for (int i = 0; i < 10; i++) {
		ticket_take(&t, c);
		CHECK_INT(ticket_watch(&t), ==, 0);
		CHECK_INT(ticket_watch(&t), ==, 0);
		if (i % 2)
			is_busy(l);
		ticket_give(&t);
	}
	EVENTUALLY(watches(s) == 0);
}
