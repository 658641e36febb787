/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that drop connections and tell nobody, and that are slow for many at
 * a time. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(redis_network, .timeout = 120);

/* A client behind a proxy. */
static struct lab_server *server;
static struct lab_proxy *proxy;
static struct diary diary = DIARY_INIT;
static dlock_client *far;
static dlock_lock *l;

static void set_up(const char *query)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	far = client_of(lab_proxy_port(proxy), query, &diary);
	warm_up(far);
	l = mutex(far, "x");
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
