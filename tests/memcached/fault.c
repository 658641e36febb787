/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are lost, and requests that are late. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The beginning of the request to release. */
static const char *drop_of(const struct scene *s)
{
	static char request[256];

	if (strcmp(s->protocol, "meta") == 0)
		return "md ";
	snprintf(request, sizeof(request), "cas %s 0 -1 ", key_of(s, "lnx"));
	return request;
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
		/* The lost request may have released the lock: no loss. */
		CHECK(dlock_release(h) != DLOCK_ELOST);
		CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==, i + 1);
		give(take(mutex(other, "x")));
	}
	/* The request is lost, and is sent again. */
	h = take(l);
	lab_proxy_hole(s.proxy, LAB_UP, true);
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	lab_proxy_reset(s.proxy);
	lab_proxy_hole(s.proxy, LAB_UP, false);
	give(take(mutex(other, "x")));
}

/* A's release is under way during a restart, and B takes the lock under the
 * number in A's release: a server counts from 1 again. */
EITHER_WAY(memcached_fault, stale_release)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *a = by_proxy(&s, "ttl=30s&close=300ms");
	dlock_client *b = direct(&s, "");
	dlock_hold *h = take(mutex(a, "x")), *next;

	lab_proxy_hold(s.proxy, drop_of(&s));
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_HELD), ==, 1);
	scene_restart(&s);
	next = take(mutex(b, "x"));
	lab_proxy_deliver(s.proxy);
	lab_proxy_heal(s.proxy);
	/* A's client cleans up, and must see that the lock is B's. */
	ALL_ALONG(1500, dlock_check(next) == DLOCK_OK);
	ask(mutex(a, "x"), 0, DLOCK_EBUSY);
	CHECK_OK(dlock_check(next));
	give(next);
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
}

static void *break_it(void *lock)
{
	CHECK_OK(dlock_break(lock, patience_ms()));
	return NULL;
}

/* A break without an answer is sent again, and must not hit the next holder.
 * The way is long, so there is time for that. */
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
}
