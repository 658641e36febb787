/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are lost, late, or come a byte at a time; and requests that
 * arrive when nobody waits for them. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "lab/base/fail.h"
#include "storm.h"

TestSuite(redis_lost, .timeout = 120);

/* A client behind a proxy, and one that sees the server as it is. */
static struct lab_server *server;
static struct lab_proxy *proxy;
static struct diary diary = DIARY_INIT;
static dlock_client *far, *near;
static dlock_lock *l, *nl;

#define HASTY "connect=1s&close=300ms"

static void set_up(const char *query)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	far = client_of(lab_proxy_port(proxy), query, &diary);
	near = client_of(server->port, query, NULL);
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
	set_up(HASTY);
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

	set_up("ttl=30s&ask=300ms&" HASTY);
	lab_proxy_swallow(proxy, "EVAL", LAB_THEN_NOTHING);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
	swallowed(1);
	/* Much earlier than the lease would end. */
	give(take(nl, 10000));
}

CASE(redis_lost, of_a_renewal_is_lost_and_the_lease_stands)
{
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=3s");
	h = take(l, 0);
	EVENTUALLY(stats(far).renewed >= 1);
	begin = now_ms();
	lab_proxy_swallow(proxy, "EVAL", LAB_THEN_NOTHING);
	swallowed(1);
	EVENTUALLY(diary.risks == 1 || now_ms() > begin + 5000 * slowness());
	EVENTUALLY(stats(far).renewed >= 3);
	CHECK_OK(dlock_check(h));
	CHECK_INT(diary.losses, ==, 0);
	CHECK_INT(diary.risks, ==, diary.safes);
	held_then_free(h);
}

CASE(redis_lost, of_all_renewals_are_lost_and_so_is_the_lock)
{
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=900ms");
	begin = now_ms();
	h = take(l, 0);
	lab_proxy_hole(proxy, LAB_DOWN, true);
	EVENTUALLY(diary.losses == 1);
	/* No renewal that was not answered has moved the end; the first one
	 * may have been. */
	CHECK_INT(diary.lost_ms - begin, <=, 900 + 300 + slack_ms());
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	lab_proxy_heal(proxy);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

CASE(redis_lost, of_a_release_is_lost_and_the_lock_is_free)
{
	static const enum lab_then then[] = { LAB_THEN_NOTHING, LAB_THEN_CLOSE,
					      LAB_THEN_RESET };
	set_up("ttl=30s&ask=300ms&" HASTY);
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
	set_up("ttl=30s&" HASTY);
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

/* ---- Requests that come too late ----------------------------------------- */

CASE(redis_lost, a_request_that_arrives_late_leaves_no_holder)
{
	dlock_hold *h = NULL;
	int64_t begin;

	set_up("ttl=2s&ask=100ms&" HASTY);
	lab_proxy_hold(proxy, "EVAL");
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
	if (lab_proxy_wait(proxy, LAB_HELD, 1, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	begin = now_ms();
	CHECK_INT(lab_proxy_deliver(proxy), ==, 1);
	h = take(nl, 2000 + patience_ms());
	CHECK_INT(now_ms() - begin, <=, 2000 + 2 * slack_ms());
	give(h);
	EVENTUALLY(stats(far).pending_cleanups == 0);
}

/* A reply that comes when its caller has given up must not be taken for the
 * next one's. */
CASE(redis_lost, a_late_one_is_nobodys)
{
	enum { LATE_MS = 250 };
	dlock_lock *other;
	dlock_hold *a = NULL, *b = NULL;
	int rc;

	set_up("ttl=30s&ask=150ms&" HASTY);
	other = mutex(far, "y");
	for (int i = 0; i < 3; i++) {
		/* Busy: the late reply says so, while "y" is free. */
		dlock_hold *theirs = take(nl, patience_ms());

		lab_proxy_delay(proxy, LAB_DOWN, LATE_MS);
		CHECK_RC(dlock_acquire(l, 0, &a), DLOCK_EUNREACHABLE);
		lab_proxy_delay(proxy, LAB_DOWN, 0);
		nap_ms(LATE_MS); /* all that was delayed is there by then */
		/* A new connection may have been greeted over the slow way. */
		EVENTUALLY((rc = dlock_acquire(other, 0, &b)) !=
			   DLOCK_EUNREACHABLE);
		CHECK_OK(rc);
		CHECK_OK(dlock_check(b));
		give(b);
		give(theirs);
	}
}

/* The clean-up that follows asks the same again, and so could take a late
 * answer for its own: its own answer would then be left for the next one. */
CASE(redis_lost, a_late_one_of_a_release_is_nobodys)
{
	enum { LATE_MS = 400 };

	set_up("ttl=30s&connect=600ms&close=600ms");
	for (int i = 0; i < 2; i++) {
		dlock_hold *h = take(l, patience_ms());

		lab_proxy_delay(proxy, LAB_DOWN, 900);
		CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
		/* Not as late, but later than the first. */
		lab_proxy_delay(proxy, LAB_DOWN, LATE_MS);
		EVENTUALLY(stats(far).pending_cleanups == 0);
		lab_proxy_delay(proxy, LAB_DOWN, 0);
		nap_ms(LATE_MS); /* likewise */
		give(take(l, patience_ms()));
	}
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

/* ---- Deadlines ----------------------------------------------------------- */

static int64_t time_of_acquire(int64_t timeout_ms)
{
	int64_t begin = now_ms();
	dlock_hold *h = NULL;

	CHECK_RC(dlock_acquire(l, timeout_ms, &h), DLOCK_EUNREACHABLE);
	return now_ms() - begin;
}

static void deadline_is_kept(void)
{
	if (storm_start(1000) < 0)
		FAIL("no storm: %s", strerror(errno));
	CHECK_WITHIN(time_of_acquire(200), 200 + 100 + slack_ms() / 4);
	CHECK_WITHIN(time_of_acquire(0), 100 + slack_ms() / 4);
	CHECK(storm_stop() > 50);
}

CASE(redis_lost, by_the_byte_do_not_stretch_a_deadline)
{
	set_up("ttl=2s&ask=100ms&" HASTY);
	lab_proxy_drip(proxy, LAB_DOWN, 40);
	deadline_is_kept();
}

CASE(redis_lost, that_never_come_do_not_stretch_a_deadline)
{
	set_up("ttl=2s&ask=100ms&" HASTY);
	lab_proxy_hole(proxy, LAB_DOWN, true);
	deadline_is_kept();
}

CASE(redis_lost, that_are_half_do_not_stretch_a_deadline)
{
	set_up("ttl=2s&ask=100ms&" HASTY);
	lab_proxy_half_close(proxy, LAB_DOWN);
	lab_proxy_refuse(proxy, true);
	deadline_is_kept();
}

static int64_t time_of_close(void)
{
	int64_t begin = now_ms();
	int64_t took;
	dlock_client *c;
	dlock_hold *h;

	lab_proxy_heal(proxy);
	c = client_of(lab_proxy_port(proxy), "close=200ms", NULL);
	l = mutex(c, "x");
	h = take(l, patience_ms());
	lab_proxy_hole(proxy, LAB_DOWN, true);
	begin = now_ms();
	end_now(c);
	took = now_ms() - begin;
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	end_now(l);
	return took;
}

CASE(redis_lost, that_never_come_do_not_keep_us_from_closing)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	for (int i = 0; i < 3; i++) {
		if (time_of_close() <= 200 + slack_ms())
			return;
		server_do(server, "FLUSHALL");
	}
	FAIL("dlock_close() took longer than close=200ms");
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

CASE(redis_lost, a_reset_while_held_costs_nothing)
{
	dlock_hold *h;

	signal(SIGPIPE, SIG_DFL);
	set_up("ttl=3s");
	h = take(l, 0);
	for (unsigned int i = 1; i <= 3; i++) {
		lab_proxy_reset(proxy);
		EVENTUALLY(stats(far).renewed >= i);
	}
	lab_proxy_reset(proxy);
	CHECK_INT(diary.losses, ==, 0);
	held_then_free(h);
	for (int i = 0; i < 20; i++) {
		lab_proxy_reset(proxy);
		h = take(l, patience_ms());
		lab_proxy_reset(proxy);
		give(h);
	}
}
