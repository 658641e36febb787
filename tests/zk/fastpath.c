/* SPDX-License-Identifier: Apache-2.0 */
/* A client that was alone in the queue takes the lock again without listing
 * the queue. */
#include "zk/support.h"

#include <criterion/criterion.h>

TestSuite(zk_fastpath, .timeout = 120);

#define PAIRS 20
#define QUERY "?ttl=30s&ask=5s"

static const char *const queries[] = { QUERY, QUERY "&release=async" };
enum { QUERIES = sizeof(queries) / sizeof(queries[0]) };

static void pairs(dlock_lock *l, int n)
{
	for (int i = 0; i < n; i++)
		taken(l);
}

static int64_t packets(struct lab_server *s)
{
	return lab_zk_number(s, "srvr", "Received");
}

OWN(zk_fastpath, it_is_two_requests)
{
	for (int i = 0; i < QUERIES; i++) {
		dlock_client *c = client(s->port, queries[i]);
		dlock_lock *l = mutex(c, "lock");
		int64_t before;

		pairs(l, 3);
		before = packets(s);
		pairs(l, PAIRS);
		/* A listing would make three; some may be for a node watch. */
		CHECK_INT(packets(s) - before, <, PAIRS * 5 / 2);
		EVENTUALLY(stats(c).pending_cleanups == 0);
		CHECK_INT(stats(c).lost, ==, 0);
		end_now(c);
	}
}

/* The server behind a new connection may have lost the nodes seen before. */
OWN(zk_fastpath, what_was_seen_does_not_outlive_the_connection)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), QUERY);
	dlock_lock *l = mutex(c, "lock"), *other = mutex(c, "other");
	int64_t before;

	pairs(l, 3);
	for (int i = 0; i < 3; i++) {
		lab_proxy_reset(p);
		pairs(other, 1);
		before = packets(s);
		pairs(l, 1);
		/* The last request asks for the number. */
		CHECK_INT(packets(s) - before, >=, 3 + 1);
		pairs(l, 2);
	}
}

/* ... and the next number is the number that the old session would expect. */
OWN(zk_fastpath, what_was_seen_does_not_outlive_the_session)
{
	dlock_client *a = client(s->port, "?ttl=4s&ask=1s");
	dlock_lock *ours = mutex(a, "lock"), *theirs;
	dlock_hold *h;

	pairs(ours, PAIRS);
	CHECK_INT(lab_server_restart(s, false), ==, 0);
	pairs(mutex(a, "other"), 1);
	theirs = mutex(client(s->port, QUERY), "lock");
	pairs(theirs, PAIRS - 1);
	h = take(theirs, PATIENCE);
	is_busy(ours);
	CHECK_OK(dlock_release(h));
}
