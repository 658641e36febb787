/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that drop connections and tell nobody, and that are slow for many at
 * a time. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(redis_network, .timeout = 120);

/* A client behind a proxy, and one that sees the server as it is. */
static struct lab_server *server;
static struct lab_proxy *proxy;
static struct diary diary = DIARY_INIT;
static dlock_client *far, *near;
static dlock_lock *l, *nl;

static void set_up(const char *query)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	far = client_of(lab_proxy_port(proxy), query, &diary);
	near = client_of(server->port, NULL, NULL);
	warm_up(far);
	warm_up(near);
	l = mutex(far, "x");
	nl = mutex(near, "x");
	healed_at_end(proxy);
}

/* ---- Connections that die without a word --------------------------------- */

CASE(redis_network, that_drops_connections_costs_one_try)
{
	enum { TRIES = 8 };
	dlock_hold *h = NULL;
	int failed = 0;

	set_up("ttl=3s&ask=150ms");
	lab_proxy_strand(proxy);
	for (int i = 0; i < TRIES; i++) {
		if (dlock_acquire(l, 0, &h) == DLOCK_OK)
			give(h);
		else
			failed++;
	}
	CHECK_INT(failed, >=, 1);
	CHECK_INT(failed, <=, 2);
}

/* ---- Many at a time ------------------------------------------------------ */

enum { THREADS = 60 };

static atomic_int over;

struct worker {
	pthread_t thread;
	dlock_lock *lock;
	int unreachable, granted;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!atomic_load(&over)) {
		dlock_hold *h;
		int rc = dlock_acquire(w->lock, 0, &h);

		w->unreachable += rc == DLOCK_EUNREACHABLE;
		if (rc == DLOCK_OK) {
			w->granted++;
			dlock_release(h);
		}
	}
	return NULL;
}

/* Renewals are to be answered within half a second. */
CASE(redis_network, that_is_slow_for_many_delays_no_renewal)
{
	struct worker w[THREADS];
	int unreachable = 0;
	dlock_hold *h;
	char name[16];

	set_up("ttl=1500ms&ask=5s&connect=5s&close=5s");
	memset(w, 0, sizeof(w));
	h = take(l, patience_ms());
	lab_proxy_delay(proxy, LAB_DOWN, 20);
	for (int i = 0; i < THREADS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		w[i].lock = mutex(far, name);
		CHECK(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0);
	}
	EVENTUALLY(stats(far).renewed >= 6 || diary.losses > 0);
	atomic_store(&over, 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		unreachable += w[i].unreachable;
	}
	CHECK_INT(diary.losses, ==, 0);
	CHECK_OK(dlock_check(h));
	lab_proxy_delay(proxy, LAB_DOWN, 0);
	give(h);
	CHECK_INT(unreachable, ==, 0);
}

enum { WAITS = 300 };

CASE(redis_network, that_many_waits_end_on_at_once_says_busy_to_each)
{
	struct taker *t = calloc(WAITS, sizeof(*t));
	dlock_hold *h;
	int unreachable = 0;

	set_up("ttl=3s&ask=40ms");
	CHECK(t);
	h = take(nl, 0);
	for (int i = 0; i < WAITS; i++)
		taker_start(&t[i], l, 2000);
	for (int i = 0; i < WAITS; i++) {
		EVENTUALLY(t[i].done);
		unreachable += t[i].rc == DLOCK_EUNREACHABLE;
	}
	CHECK_INT(unreachable, ==, 0);
	for (int i = 0; i < WAITS; i++) {
		CHECK_RC(t[i].rc, DLOCK_EBUSY);
		let_go(&t[i]);
	}
	give(h);
	free(t);
	EVENTUALLY(stats(far).pending_cleanups == 0);
}

/* Its last question is out at the end: an answer takes 70 ms. */
CASE(redis_network, that_is_slow_makes_no_busy_lock_unreachable)
{
	dlock_hold *h, *none = NULL;

	set_up("ask=40ms");
	h = take(nl, 0);
	lab_proxy_delay(proxy, LAB_DOWN, 70);
	for (int i = 0; i < 3; i++)
		CHECK_RC(dlock_acquire(l, 400, &none), DLOCK_EBUSY);
	give(h);
}

/* ---- A server that is down ----------------------------------------------- */

CASE(redis_network, without_a_server_leaves_nothing_to_clean_up)
{
	dlock_hold *h = NULL;

	set_up("ttl=30s");
	lab_proxy_refuse(proxy, true);
	lab_proxy_reset(proxy);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
	for (int i = 0; i < 200; i++)
		CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
	/* The first may have been sent on a connection that was there. */
	CHECK_INT((int)stats(far).pending_cleanups, <=, 1);
}
