/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are lost; requests that are late; a server that stands still. */
#include "support.h"

#include <pthread.h>
#include <string.h>

/* How the requests to acquire and to release begin. */
#define TAKE "add "

static const char *drop_of(const struct scene *s)
{
	if (strcmp(s->protocol, "meta") == 0)
		return "md ";
	return with_key(s, "cas %s 0 -1 ", "lnx");
}

EITHER_WAY(memcached_fault, reply_to_add_is_lost)
{
	static const enum lab_then then[] = { LAB_THEN_CLOSE, LAB_THEN_RESET,
					      LAB_THEN_STRAND };
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s&close=400ms");
	dlock_client *other = direct(&s, "");
	dlock_lock *l = mutex(c, "x");

	for (int i = 0; i < 3; i++) {
		dlock_hold *h;

		lab_proxy_swallow(s.proxy, TAKE, then[i]);
		h = take(l); /* asked again, it finds its own */
		CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==, i + 1);
		CHECK_INT(dlock_remaining_ms(h), >, 29000);
		ask(mutex(other, "x"), 0, DLOCK_EBUSY);
		give(h);
		give(take(mutex(other, "x")));
	}
	scene_end(&s);
}

/* The caller gave up; the claim that it never heard of must not stay. */
EITHER_WAY(memcached_fault, what_add_left_is_cleaned_up)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s&ask=200ms");
	dlock_client *other = direct(&s, "");
	int64_t begun;

	give(take(mutex(c, "y")));
	lab_proxy_swallow(s.proxy, TAKE, LAB_THEN_STRAND);
	ask(mutex(c, "x"), 0, DLOCK_EUNREACHABLE);
	begun = now_ms();
	give(take(mutex(other, "x")));
	CHECK_INT(now_ms() - begun, <, 1000 + slack_ms());
	scene_end(&s);
}

EITHER_WAY(memcached_fault, reply_to_release_is_lost)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s&close=300ms");
	dlock_client *other = direct(&s, "");
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;

	for (int i = 0; i < 2; i++) {
		h = take(l);
		lab_proxy_swallow(s.proxy, drop_of(&s),
				  i ? LAB_THEN_STRAND : LAB_THEN_CLOSE);
		/* What the lost one may have removed is no loss. */
		CHECK(dlock_release(h) != DLOCK_ELOST);
		CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==, i + 1);
		give(take(mutex(other, "x")));
	}
	/* The request itself is lost: it is asked for again. */
	h = take(l);
	lab_proxy_hole(s.proxy, LAB_UP, true);
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	lab_proxy_reset(s.proxy);
	lab_proxy_hole(s.proxy, LAB_UP, false);
	give(take(mutex(other, "x")));
	scene_end(&s);
}

/* What was granted in the end is known, whatever was asked before that. */
EITHER_WAY(memcached_fault, reply_to_add_is_lost_and_then_all_is)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s");
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;

	lab_proxy_swallow(s.proxy, TAKE, LAB_THEN_CLOSE);
	h = take(l);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==, 1);
	CHECK_INT(lab_memcached_do(s.server, NULL, 0, "flush_all"), ==, 0);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	give(take(l));
	scene_end(&s);
}

EITHER_WAY(memcached_fault, server_paused_past_the_lease)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = direct(&s, "ttl=1s&close=300ms&ask=300ms");
	dlock_client *other = direct(&s, "ttl=1s&ask=300ms");
	dlock_lock *l = mutex(c, "x"), *theirs = mutex(other, "x");
	dlock_hold *h = take(l), *next;
	int64_t begun = now_ms();
	uint64_t token = dlock_token(h);

	CHECK_INT(lab_server_pause(s.server), ==, 0);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - begun, <=, 1000 + slack_ms());
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	nap_ms(dlock_ttl_ms(c) * 3 / 2);
	CHECK_INT(lab_server_resume(s.server), ==, 0);
	next = take(theirs);
	CHECK(dlock_token(next) > token);
	ask(l, 0, DLOCK_EBUSY);
	ALL_ALONG(dlock_ttl_ms(other) * 3 / 2, dlock_check(next) == DLOCK_OK);
	give(next);
	scene_end(&s);
}

/*
 * A's release is on its way when the server is restarted, and B takes the lock
 * under the very number that A's release names: a server counts anew from 1.
 */
EITHER_WAY(memcached_fault, stale_release)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *a = by_proxy(&s, "ttl=30s&close=300ms");
	dlock_client *b = direct(&s, "");
	dlock_hold *h = take(mutex(a, "x")), *next;

	lab_proxy_hold(s.proxy, drop_of(&s));
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_HELD), ==, 1);
	CHECK_INT(lab_server_kill(s.server), ==, 0);
	CHECK_INT(lab_server_restart(s.server, false), ==, 0);
	grown_up(&s);
	next = take(mutex(b, "x"));
	lab_proxy_deliver(s.proxy);
	lab_proxy_heal(s.proxy);
	/* A's client cleans up behind itself, and must find that it is B's. */
	ALL_ALONG(1500, dlock_check(next) == DLOCK_OK);
	ask(mutex(a, "x"), 0, DLOCK_EBUSY);
	CHECK_OK(dlock_check(next));
	give(next);
	scene_end(&s);
}

/* A's release arrives when the lock has been B's for some time. */
EITHER_WAY(memcached_fault, late_release)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *a = by_proxy(&s, "ttl=30s&close=300ms");
	dlock_client *b = direct(&s, "ttl=1500ms");
	dlock_hold *h = take(mutex(a, "x")), *next;

	lab_proxy_hold(s.proxy, drop_of(&s));
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_HELD), ==, 1);
	next = take(mutex(b, "x"));
	CHECK_INT(lab_proxy_deliver(s.proxy), ==, 1);
	ALL_ALONG(dlock_ttl_ms(b) * 4 / 5, dlock_check(next) == DLOCK_OK);
	ask(mutex(a, "x"), 0, DLOCK_EBUSY);
	give(next);
	scene_end(&s);
}

/* The same with a hold that A believes to have still. */
EITHER_WAY(memcached_fault, release_after_restart)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *a = direct(&s, "ttl=30s"), *b = direct(&s, "ttl=30s");
	dlock_hold *h = take(mutex(a, "x")), *next;
	uint64_t token = dlock_token(h);

	CHECK_INT(lab_server_kill(s.server), ==, 0);
	CHECK_INT(lab_server_restart(s.server, false), ==, 0);
	grown_up(&s);
	next = take(mutex(b, "x"));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	ask(mutex(a, "x"), 0, DLOCK_EBUSY);
	CHECK_OK(dlock_check(next));
	CHECK(dlock_token(next) > token);
	give(next);
	scene_end(&s);
}

/* And with its renewal: B's item has the number that A's had. */
EITHER_WAY(memcached_fault, renewal_after_restart)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *a = direct(&s, "ttl=24s"), *b = direct(&s, "ttl=24s");
	dlock_hold *h = take(mutex(a, "x")), *next;

	CHECK_INT(lab_server_kill(s.server), ==, 0);
	CHECK_INT(lab_server_restart(s.server, false), ==, 0);
	grown_up(&s);
	next = take(mutex(b, "x"));
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	ask(mutex(a, "x"), 0, DLOCK_EBUSY);
	give(next);
	scene_end(&s);
}

static void *break_it(void *lock)
{
	CHECK_OK(dlock_break(lock, patience_ms()));
	return NULL;
}

/*
 * A break whose answer is lost is sent again.  It must not hit the client that
 * got the lock by the first one.  The way is long, so that there is time for
 * that.
 */
EITHER_WAY(memcached_fault, reply_to_break_is_lost)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "connect=10s"), *other = direct(&s, "");
	dlock_client *third = direct(&s, "ttl=3s");
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(mutex(other, "x")), *next = NULL;
	pthread_t thread;

	ask(l, 0, DLOCK_EBUSY);
	lab_proxy_delay(s.proxy, LAB_UP, 200);
	lab_proxy_swallow(s.proxy, drop_of(&s), LAB_THEN_CLOSE);
	CHECK(!pthread_create(&thread, NULL, break_it, l));
	next = take(mutex(third, "x"));
	CHECK_INT(pthread_join(thread, NULL), ==, 0);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==, 1);
	lab_proxy_heal(s.proxy);
	ALL_ALONG(dlock_ttl_ms(third) / 3 + 100, dlock_check(next) == DLOCK_OK);
	ask(mutex(c, "x"), 0, DLOCK_EBUSY);
	give(next);
	dlock_release(h);
	scene_end(&s);
}
