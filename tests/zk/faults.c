/* SPDX-License-Identifier: Apache-2.0 */
/* Lost replies, and servers that freeze. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/cancel.h"

TestSuite(zk_faults, .timeout = 120);

#define DIR "/dlock/lnlock"

/* The client library drops the connection for the next answer, which is out of
 * order, and dlock sends the request again. */
SHARED(zk_faults, answers_out_of_order_are_asked_for_again)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=5s&ask=200ms");
	dlock_lock *l = mutex(c, "lock");

	CHECK_OK(dlock_release(take(l, FOREVER)));
	for (int i = 0; i < 5; i++) {
		lab_proxy_swallow(p, NULL, LAB_THEN_NOTHING);
		CHECK_OK(dlock_release(take(l, PATIENCE)));
	}
}

/* A waiter that gives up without a connection leaves no watch on the next
 * connection. */
OWN(zk_faults, a_wait_that_ends_in_a_cut_leaves_no_watch)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *a = client(s->port, "?ttl=30s");
	dlock_client *b = client(lab_proxy_port(p), "?ttl=30s&close=100ms");
	dlock_lock *l = mutex(b, "lock");
	dlock_hold *h = take(mutex(a, "lock"), FOREVER);
	struct taker w = { 0 };

	/* Each client watches its node, and the waiter the holder's, too. */
	taker_start(&w, l, FOREVER);
	EVENTUALLY(watches(s) == 3);
	lab_proxy_refuse(p, true);
	lab_proxy_reset(p);
	EVENTUALLY(watches(s) == 1);
	dlock_cancel(l);
	CHECK_INT(waiter_join(&w), ==, DLOCK_ECANCELED);
	lab_proxy_heal(p);
	CHECK_OK(dlock_release(take(mutex(b, "other"), PATIENCE)));
	EVENTUALLY(children_are(DIR, 1));
	EVENTUALLY(watches(s) == 1);
	CHECK_OK(dlock_release(h));
}

/* The server refuses requests of more than a megabyte: the watches of many
 * holds need several. */
OWN(zk_faults, many_holds_survive_a_lost_connection)
{
	enum { HOLDS = 2500 };
	static dlock_hold *h[HOLDS];
	struct lab_proxy *p = proxy(s);
	char path[256] = "", params[300], name[192];
	dlock_client *c;

	for (int i = 0; i < 2; i++) {
		memset(path + strlen(path), 'a', 120);
		path[120 * i] = '/';
		make(path);
	}
	snprintf(params, sizeof(params), "%s?ttl=60s", path + 1);
	c = watched_client(lab_proxy_port(p), params);
	for (int i = 0; i < HOLDS; i++) {
		snprintf(name, sizeof(name), "%0190d", i);
		h[i] = take(mutex(c, name), FOREVER);
	}
	EVENTUALLY(watches(s) == HOLDS);
	lab_proxy_reset(p);
	CHECK_OK(dlock_release(take(mutex(c, "one more"), PATIENCE)));
	EVENTUALLY(watches(s) == HOLDS);
	for (int i = 0; i < HOLDS; i++)
		CHECK_OK(dlock_release(h[i]));
	CHECK_INT(diary.losses, ==, 0);
}

static atomic_int in_flight;

static void landed(int rc, const char *value, int len, const struct Stat *stat,
		   const void *data)
{
	(void)rc;
	(void)value;
	(void)len;
	(void)stat;
	(void)data;
	atomic_fetch_sub(&in_flight, 1);
}

/* Send more requests than the server takes. */
static void flood(void)
{
	while (atomic_load(&in_flight) < 300) {
		atomic_fetch_add(&in_flight, 1);
		CHECK_INT(zoo_aget(bare(), "/", 0, landed, NULL), ==, ZOK);
	}
}

/* A server that throttles a request has not agreed with the ensemble that the
 * session lives. */
CASE(zk_faults, a_request_turned_away_renews_nothing)
{
	struct lab_zk_options o = { .config =
					    "request_throttle_max_requests=1\n"
					    "throttled_op_wait_time=1\n" };
	struct lab_server *s = server(&o);
	dlock_client *c = client(s->port, "?ttl=2s");
	dlock_hold *h = NULL;
	int64_t until = now_ms() + 3 * PATIENCE;

	while (!h && dlock_acquire(mutex(c, "lock"), FOREVER, &h) != 0)
		CHECK_INT(now_ms(), <, until);
	while (stats(c).renew_failed == 0 && now_ms() < until) {
		flood();
		nap_ms(1);
	}
	CHECK_INT(stats(c).renew_failed, >, 0);
	EVENTUALLY(atomic_load(&in_flight) == 0);
	dlock_release(h);
}

static void freeze(void *s)
{
	lab_server_pause(s);
}

static int64_t cancel_parked(struct lab_server *s, dlock_client *c,
			     dlock_lock *l)
{
	int64_t ms = cancel_parked_ms(c, l, freeze, s);

	lab_server_resume(s);
	return ms;
}

/* The cancelled waiter waits neither for the request under way nor for the
 * deletion of the node. */
OWN(zk_faults, a_frozen_server_holds_no_wait_that_is_cancelled)
{
	dlock_client *a = client(s->port, "?ttl=30s");
	dlock_client *b = client(s->port,
				 "?ttl=30s&connect=5s&close=5s&ask=40ms");
	dlock_hold *h = take(mutex(a, "lock"), FOREVER);
	dlock_lock *l = mutex(b, "lock");

	CHECK_WITHIN(cancel_parked(s, b, l), 40 + slack_ms());
	lab_server_pause(s);
	CHECK_WITHIN(cancel_wait_ms(b, l), 40 + slack_ms());
	lab_server_resume(s);
	EVENTUALLY(children_are(DIR, 1));
	CHECK_OK(dlock_release(h));
}
