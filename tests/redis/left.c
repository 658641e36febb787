/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is left behind: by those who try, by those who give up, and by a
 * release that did not get through. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(redis_left, .timeout = 120);

enum { TRIES = 2000, WAITS = 30 };

/* How many are in the wait queue, and how many the server knows of. */
static int queue_entries(struct lab_server *s)
{
	return atoi(server_do(s, "ZCARD dlock:{lnx}:q")) +
	       atoi(server_do(s, "HLEN dlock:{lnx}:i"));
}

CASE(redis_left, nothing_in_the_queue_by_thousands_of_tries)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *a = client_of(server->port, "ttl=60s", NULL);
	dlock_client *b = client_of(server->port, "ttl=60s", NULL);
	dlock_lock *held = mutex(a, "x"), *l = mutex(b, "x");
	dlock_hold *h = take(held, 0), *none = NULL;

	for (int i = 0; i < TRIES; i++)
		CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	EVENTUALLY(queue_entries(server) == 0);
	for (int i = 0; i < WAITS; i++)
		CHECK_RC(dlock_acquire(l, 1 + i % 4, &none), DLOCK_EBUSY);
	EVENTUALLY(queue_entries(server) == 0);
	for (int i = 0; i < WAITS; i++) {
		struct taker t = { 0 };

		taker_queue(&t, b, l, FOREVER);
		dlock_cancel(l);
		let_go(&t);
		CHECK_RC(t.rc, DLOCK_ECANCELED);
	}
	EVENTUALLY(queue_entries(server) == 0);
	CHECK_INT(stats(b).waiters, ==, 0);
	give(h);
	give(take(l, 0));
}

/* The request is lost, not the answer: the store is told later, and much before
 * the lease would end; to us it is over at once. */
CASE(redis_left, nothing_by_a_release_that_never_arrived)
{
	struct lab_server *server = server_start(NULL);
	struct lab_proxy *proxy = proxy_start(server);
	const char *query = "ttl=60s&connect=300ms&close=300ms";
	dlock_client *far = client_of(lab_proxy_port(proxy), query, NULL);
	dlock_client *near = client_of(server->port, "ttl=60s", NULL);
	dlock_lock *l = mutex(far, "x"), *theirs = mutex(near, "x");
	uint64_t token;
	dlock_hold *h;

	for (int i = 0; i < 2; i++) {
		h = take(l, patience_ms());
		token = dlock_token(h);
		lab_proxy_hole(proxy, LAB_UP, true);
		CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
		/* What was sent goes with its connection. */
		lab_proxy_reset(proxy);
		lab_proxy_heal(proxy);
		h = i ? take(l, patience_ms()) : take(theirs, patience_ms());
		CHECK(dlock_token(h) > token);
		EVENTUALLY(stats(far).pending_cleanups == 0);
		CHECK_OK(dlock_check(h));
		/* That has cost the next one nothing. */
		CHECK_TEXT(server_do(server, "EXISTS dlock:{lnx}"), "1");
		give(h);
	}
}
