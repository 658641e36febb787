/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the network keeps until nobody expects them any more. */
#include "support.h"

#include <string.h>

#include "lab/storm.h"

/* What looks at the first seat of the semaphore "s". */
static const char *look_at_seat(const char *protocol)
{
	return strcmp(protocol, "meta") == 0 ? "mg dlock.sns.0 " :
					       "gets dlock.sns.0\r";
}

static const char *look_at_x(const char *protocol)
{
	return strcmp(protocol, "meta") == 0 ? "mg dlock.mnx " :
					       "gets dlock.mnx\r";
}

/* Nobody waits for that add when it comes; what it leaves must go. */
EITHER_WAY(memcached_late, add_after_the_caller_gave_up)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s&ask=200ms");
	dlock_lock *l = mutex(c, "x"), *theirs = mutex(direct(&s, ""), "x");
	char reply[256];
	int64_t begun;

	give(take(mutex(c, "y")));
	lab_proxy_hold(s.proxy, "add ");
	ask(l, 0, DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_HELD), ==, 1);
	give(take(theirs)); /* what was sent since was not held up */
	nap_ms(500);
	begun = now_ms();
	CHECK_INT(lab_proxy_deliver(s.proxy), >=, 1);
	/* It does take the lock: the store has heard it. */
	for (int i = 0; i < 1000; i++) {
		CHECK_INT(lab_memcached_do(s.server, reply, sizeof(reply),
					   "get dlock.mnx"),
			  ==, 0);
		if (strncmp(reply, "VALUE", 5) == 0)
			break;
	}
	give(take(theirs));
	CHECK_INT(now_ms() - begun, <, 5000 + slack_ms());
	scene_end(&s);
}

/*
 * A's renewal is on its way when the server is restarted, and B takes the lock
 * under the very number that A's renewal names.  Neither that one nor the next,
 * on another connection, must be taken for B's.
 */
EITHER_WAY(memcached_late, renewal_across_a_restart)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *a = by_proxy(&s, "ttl=12s&ask=300ms");
	dlock_client *b = direct(&s, "ttl=6s");
	int64_t begun = now_ms();
	dlock_hold *h = take(mutex(a, "x")), *next;
	uint64_t token = dlock_token(h);

	lab_proxy_hold(s.proxy, "cas dlock.mnx 0 15 ");
	CHECK_INT(lab_proxy_wait(s.proxy, LAB_HELD, 1, patience_ms()), ==, 0);
	lab_proxy_refuse(s.proxy, true);
	CHECK_INT(lab_server_kill(s.server), ==, 0);
	CHECK_INT(lab_server_restart(s.server, false), ==, 0);
	grown_up(&s);
	next = take(mutex(b, "x"));
	CHECK(dlock_token(next) > token);
	CHECK_OK(dlock_check(h));
	lab_proxy_deliver(s.proxy);
	lab_proxy_heal(s.proxy);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - begun, <, 11500); /* told so, not timed out */
	/* B's renewal finds what B put there. */
	ALL_ALONG(2500, dlock_check(next) == DLOCK_OK);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	ask(mutex(a, "x"), 0, DLOCK_EBUSY);
	give(next);
	scene_end(&s);
}

/* Before a seat is taken, and before what was taken elsewhere is given back,
 * there is a look. */
EITHER_WAY(memcached_late, reply_to_look_is_lost)
{
	static const enum lab_then then[] = { LAB_THEN_CLOSE, LAB_THEN_RESET,
					      LAB_THEN_NOTHING };
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s&close=400ms");
	dlock_client *other = direct(&s, "");
	dlock_lock *seat = NULL, *theirs = NULL;

	CHECK_OK(dlock_semaphore_new(&seat, c, "s", 1));
	CHECK_OK(dlock_semaphore_new(&theirs, other, "s", 1));
	for (unsigned int i = 0; i < 3; i++) {
		dlock_hold *h;

		lab_proxy_swallow(s.proxy, look_at_seat(protocol), then[i]);
		h = take(seat);
		CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==,
			  2 * i + 1);
		ask(theirs, 0, DLOCK_EBUSY);
		give(h);
		give(take(theirs));

		h = take(mutex(c, "x"));
		lab_proxy_reset(s.proxy); /* another connection looks first */
		lab_proxy_swallow(s.proxy, look_at_x(protocol), then[i]);
		dlock_release(h);
		CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==,
			  2 * i + 2);
		give(take(mutex(other, "x")));
	}
	dlock_free(seat);
	dlock_free(theirs);
	scene_end(&s);
}

/* Not one answer in time, while signals come: a hold ends with its lease, and
 * its release with its time. */
EITHER_WAY(memcached_late, renewals_that_drip)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=2s&ask=200ms&close=500ms");
	dlock_client *other = direct(&s, "ttl=2s");

	CHECK_INT(lab_storm_start(1000), ==, 0);
	for (int i = 0; i < 2; i++) {
		dlock_hold *h = take(mutex(c, "x")), *next;
		int64_t begun = now_ms();

		if (i == 0)
			lab_proxy_drip(s.proxy, LAB_DOWN, 60);
		else
			lab_proxy_hole(s.proxy, LAB_DOWN, true);
		next = take(mutex(other, "x"));
		CHECK_RC(dlock_check(h), DLOCK_ELOST);
		CHECK_INT(now_ms() - begun, >=, 1900);
		begun = now_ms();
		CHECK_RC(dlock_release(h), DLOCK_ELOST);
		CHECK_INT(now_ms() - begun, <, 200 + 50 + slack_ms());
		lab_proxy_heal(s.proxy);
		/* What is healed makes up for nothing. */
		ALL_ALONG(1000, dlock_check(next) == DLOCK_OK);
		give(next);
	}
	CHECK_INT(lab_storm_stop(), >, 100);
	scene_end(&s);
}
