/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the network keeps until nobody expects them. */
#include "support.h"

#include <pthread.h>
#include <string.h>

/* The request that gets the first slot of the semaphore "s". */
static const char *get_slot(const struct scene *s)
{
	return with_key(
		s, strcmp(s->protocol, "meta") == 0 ? "mg %s " : "gets %s\r",
		"sns.0");
}

/* Once a request is held, its connection gives no further answer. */
static void *half_close(void *arg)
{
	const struct scene *s = arg;

	lab_proxy_wait(s->proxy, LAB_HELD, 1, patience_ms());
	lab_proxy_half_close(s->proxy, LAB_DOWN);
	return NULL;
}

/* The add that is held arrives and takes the lock; the client may have found it
 * by then.  A server counts what it is told to store. */
static void add_arrives(const struct scene *s)
{
	uint64_t before = stat_of(s, "STAT cmd_set ");

	CHECK_INT(lab_proxy_deliver(s->proxy), >=, 1);
	EVENTUALLY(stat_of(s, "STAT cmd_set ") > before);
}

/* Nobody waits for that add when it comes; what it leaves must go. */
EITHER_WAY(memcached_late, add_after_the_caller_gave_up)
{
	enum { ASK_MS = 200 };
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s&ask=200ms");
	dlock_lock *l = mutex(c, "x"), *theirs = mutex(direct(&s, ""), "x");
	int64_t begun;

	give(take(mutex(c, "y")));
	lab_proxy_hold(s.proxy, "add ");
	ask(l, 0, DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_HELD), ==, 1);
	give(take(theirs)); /* what was sent since was not held up */
	/* No request of the client lasts that long. */
	nap_ms(ASK_MS * 5 / 2);
	begun = now_ms();
	add_arrives(&s);
	give(take(theirs));
	CHECK_INT(now_ms() - begun, <, 5000 + slack_ms());
	scene_end(&s);
}

/* The connection ends while the add is on its way, which is sent again; and
 * then the first one arrives, when all is over. */
EITHER_WAY(memcached_late, add_that_was_sent_twice)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=10s");
	dlock_lock *l = mutex(c, "x"), *theirs = mutex(direct(&s, ""), "x");
	struct dlock_stats stats = { .size = sizeof(stats) };
	dlock_hold *h = NULL;
	pthread_t thread;
	int64_t begun;

	give(take(mutex(c, "y")));
	lab_proxy_hold(s.proxy, "add ");
	CHECK(pthread_create(&thread, NULL, half_close, &s) == 0);
	CHECK_OK(dlock_acquire(l, patience_ms(), &h));
	pthread_join(thread, NULL);
	give(h);
	CHECK_OK(dlock_get_stats(c, &stats));
	CHECK_INT((int)stats.pending_cleanups, ==, 1);
	give(take(theirs));
	begun = now_ms();
	add_arrives(&s);
	give(take(theirs));
	CHECK_INT(now_ms() - begun, <, 3000 + slack_ms());
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

	lab_proxy_hold(s.proxy, with_key(&s, "cas %s 0 15 ", "lnx"));
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
	ALL_ALONG(dlock_ttl_ms(b) / 3 + 500, dlock_check(next) == DLOCK_OK);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	ask(mutex(a, "x"), 0, DLOCK_EBUSY);
	give(next);
	scene_end(&s);
}

/* A client gets the slots before it takes one. */
EITHER_WAY(memcached_late, reply_to_look_is_lost)
{
	static const enum lab_then then[] = { LAB_THEN_CLOSE, LAB_THEN_RESET,
					      LAB_THEN_STRAND };
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = by_proxy(&s, "ttl=30s&close=400ms");
	dlock_client *other = direct(&s, "");
	dlock_lock *slot = NULL, *theirs = NULL;

	CHECK_OK(dlock_semaphore_new(&slot, c, "s", 1));
	CHECK_OK(dlock_semaphore_new(&theirs, other, "s", 1));
	for (unsigned int i = 0; i < 3; i++) {
		dlock_hold *h;

		lab_proxy_swallow(s.proxy, get_slot(&s), then[i]);
		h = take(slot);
		CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==, i + 1);
		ask(theirs, 0, DLOCK_EBUSY);
		give(h);
		give(take(theirs));
	}
	dlock_lock_free(slot);
	dlock_lock_free(theirs);
	scene_end(&s);
}
