/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are lost or late. */
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(redis_lost, .timeout = 120);

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *far;
static dlock_lock *l;

static void set_up(const char *query)
{
	server = server_start(NULL);
	proxy = proxy_of_case(server);
	healed_at_end(proxy);
	far = client_of(lab_proxy_port(proxy), query, NULL);
	warm_up(far);
	l = mutex(far, "x");
}

static void swallowed(uint64_t n)
{
	if (lab_proxy_wait(proxy, LAB_SWALLOWED, n, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
}

/* The first request released the lock, the second finds none: no loss.  The
 * connection was idle, so the second request follows at once. */
CASE(redis_lost, of_a_release_is_lost_and_the_lock_was_not)
{
	set_up("ttl=30s");
	for (uint64_t i = 0; i < 5; i++) {
		dlock_hold *h = take(l, patience_ms());
		uint64_t run = scripts_run(server);

		lab_proxy_swallow(proxy, "EVAL",
				  i % 2 ? LAB_THEN_CLOSE : LAB_THEN_RESET);
		CHECK_OK(dlock_release(h));
		swallowed(i + 1);
		CHECK_INT((int)(scripts_run(server) - run), ==, 2);
	}
	CHECK_INT((int)stats(far).lost, ==, 0);
}

CASE(redis_lost, with_a_connection_cost_one_try)
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
