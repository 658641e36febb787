/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are lost or late, and what the client believes then. */
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(redis_lost, .timeout = 120);

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

static void swallowed(uint64_t n)
{
	if (lab_proxy_wait(proxy, LAB_SWALLOWED, n, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
}

/* The lock is the far client's, and then anybody's. */
static void held_then_free(dlock_hold *h)
{
	dlock_hold *other = NULL;
	uint64_t token = dlock_token(h);

	CHECK_RC(dlock_acquire(nl, 0, &other), DLOCK_EBUSY);
	CHECK_OK(dlock_check(h));
	give(h);
	other = take(nl, 0);
	CHECK(dlock_token(other) > token);
	give(other);
}

CASE(redis_lost, of_an_acquire_is_lost_and_the_claim_found)
{
	set_up(NULL);
	lab_proxy_swallow(proxy, "EVAL", LAB_THEN_NOTHING);
	held_then_free(take(l, patience_ms()));
	swallowed(1);
	lab_proxy_swallow(proxy, "EVAL", LAB_THEN_CLOSE);
	held_then_free(take(l, patience_ms()));
	swallowed(2);
	lab_proxy_swallow(proxy, "EVAL", LAB_THEN_RESET);
	held_then_free(take(l, patience_ms()));
	swallowed(3);
}

CASE(redis_lost, of_a_try_is_lost_and_nothing_is_left)
{
	dlock_hold *h = NULL;

	set_up("ttl=30s&ask=300ms");
	lab_proxy_swallow(proxy, "EVAL", LAB_THEN_NOTHING);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
	swallowed(1);
	/* Much earlier than the lease would end. */
	give(take(nl, 10000));
}

CASE(redis_lost, of_a_release_is_lost_and_the_lock_is_free)
{
	static const enum lab_then then[] = { LAB_THEN_NOTHING, LAB_THEN_CLOSE,
					      LAB_THEN_RESET };
	set_up("ttl=30s&ask=300ms&close=300ms");
	for (uint64_t i = 0; i < 3; i++) {
		dlock_hold *h = take(l, patience_ms());
		int rc;

		lab_proxy_swallow(proxy, "EVAL", then[i]);
		rc = dlock_release(h);
		swallowed(i + 1);
		CHECK(rc == DLOCK_OK || rc == DLOCK_EUNREACHABLE);
		give(take(nl, slack_ms()));
		EVENTUALLY(stats(far).pending_cleanups == 0);
	}
}

/* The first request did it, the second found nothing: no loss.  Its connection
 * was idle, so that it is asked again at once. */
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

CASE(redis_lost, take_their_time_off_the_lease)
{
	dlock_hold *h;

	set_up("ttl=3s");
	lab_proxy_delay(proxy, LAB_DOWN, 600);
	h = take(l, patience_ms());
	CHECK_INT(dlock_remaining_ms(h), <=, 3000 - 600);
	lab_proxy_heal(proxy);
	give(h);
}

/* A client's first attempt that finds a lock busy has the channel opened.  What
 * the server answered before that is not taken back for want of time. */
CASE(redis_lost, what_is_busy_is_so_however_far_the_server)
{
	dlock_hold *h, *none = NULL;

	set_up("ask=1s");
	h = take(nl, 0);
	lab_proxy_delay(proxy, LAB_UP, 180);
	lab_proxy_delay(proxy, LAB_DOWN, 180);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	give(h);
}
