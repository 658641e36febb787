/* SPDX-License-Identifier: Apache-2.0 */
/* A client that was alone in the queue takes the lock again without listing
 * it. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(zk_fastpath, .timeout = 120);

#define DIR "/dlock/lnlock"
#define PAIRS 20

static void pairs(dlock_lock *l, int n)
{
	for (int i = 0; i < n; i++)
		CHECK_OK(dlock_release(take(l, PATIENCE)));
}

static int64_t packets(struct lab_server *s)
{
	return lab_zk_number(s, "srvr", "Received");
}

CASE(zk_fastpath, it_is_two_requests)
{
	struct lab_server *s = server(NULL);
	dlock_client *c = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock");
	int64_t before;

	pairs(l, 3);
	before = packets(s);
	pairs(l, PAIRS);
	/* A listing would make it three; some may be for a node watch. */
	CHECK_INT(packets(s) - before, <, PAIRS * 5 / 2);
}

/* Whether that client still holds the lock, or has released it. */
CASE(zk_fastpath, a_client_in_between_is_seen)
{
	struct lab_server *s = server(NULL);
	dlock_client *a = client(s->port, "?ttl=30s&ask=5s");
	dlock_client *b = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *ours = mutex(a, "lock"), *theirs = mutex(b, "lock");
	dlock_hold *h, *none = NULL;

	for (int i = 0; i < 10; i++) {
		uint64_t token;

		pairs(ours, 3);
		pairs(theirs, i % 3);
		h = take(theirs, PATIENCE);
		token = dlock_token(h);
		CHECK_RC(dlock_acquire(ours, 0, &none), DLOCK_EBUSY);
		CHECK_OK(dlock_release(h));
		h = take(ours, PATIENCE);
		CHECK(dlock_token(h) > token);
		CHECK_OK(dlock_release(h));
	}
}

/* In a directory that was made again the numbers start again, so that the next
 * one can be the one after ours although others were there. */
CASE(zk_fastpath, a_number_from_another_directory_does_not_count)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *a = client(s->port, "?ttl=30s&ask=5s");
	dlock_client *b = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *ours = mutex(a, "lock"), *theirs = mutex(b, "lock");

	for (int n = 3; n < 8; n++) {
		dlock_hold *h, *none = NULL;
		int rc;

		pairs(ours, 3);
		rc = zoo_delete(zh, DIR, -1);
		CHECK(rc == ZOK || rc == ZNONODE);
		pairs(ours, n);
		rc = zoo_delete(zh, DIR, -1);
		CHECK(rc == ZOK || rc == ZNONODE);
		/* Our last number was n - 1, and so is this one. */
		pairs(theirs, n - 1);
		h = take(theirs, PATIENCE);
		CHECK_RC(dlock_acquire(ours, 0, &none), DLOCK_EBUSY);
		CHECK_OK(dlock_release(h));
	}
}

/* The server behind a new connection may have lost what was seen before. */
CASE(zk_fastpath, what_was_seen_does_not_outlive_the_connection)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock"), *other = mutex(c, "other");
	int64_t before;

	pairs(l, 3);
	for (int i = 0; i < 3; i++) {
		lab_proxy_reset(p);
		pairs(other, 1);
		before = packets(s);
		pairs(l, 1);
		/* The last request is the one for the number. */
		CHECK_INT(packets(s) - before, >=, 3 + 1);
		pairs(l, 2);
	}
}

/* ... and the next number is the one that the old session would expect. */
CASE(zk_fastpath, what_was_seen_does_not_outlive_the_session)
{
	struct lab_server *s = server(NULL);
	dlock_client *a = client(s->port, "?ttl=4s&ask=1s"), *b;
	dlock_lock *ours = mutex(a, "lock"), *theirs;
	dlock_hold *h, *none = NULL;

	pairs(ours, PAIRS);
	CHECK_INT(lab_server_restart(s, false), ==, 0);
	pairs(mutex(a, "other"), 1);
	b = client(s->port, "?ttl=30s&ask=5s");
	theirs = mutex(b, "lock");
	pairs(theirs, PAIRS - 1);
	h = take(theirs, PATIENCE);
	CHECK_RC(dlock_acquire(ours, 0, &none), DLOCK_EBUSY);
	CHECK_OK(dlock_release(h));
}
