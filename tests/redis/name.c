/* SPDX-License-Identifier: Apache-2.0 */
/* All handles of a name are the same lock. */
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(redis_name, .timeout = 120);

/* The clients of the handles of "x". */
static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *a, *b, *c;
static dlock_lock *m, *n; /* mutexes of a and b */
static dlock_lock *r, *s; /* read-write locks of b and c */

static void set_up(const char *query)
{
	server = two_start(query, NULL, &a, &b);
	proxy = proxy_of_case(server);
	healed_at_end(proxy);
	c = client_of(lab_proxy_port(proxy), query, NULL);
	warm_up(c);
	m = mutex(a, "x");
	n = mutex(b, "x");
	r = rwlock(b, "x");
	s = rwlock(c, "x");
}

/* A watched claim has a range of tokens ahead of the clock.  A flushed server
 * goes on by the clock. */
CASE(redis_name, downgrade_gives_the_range_of_tokens_back)
{
	struct taker t = { .shared = 1 };
	dlock_hold *h, *reader;
	uint64_t before;

	set_up("ttl=60s");
	h = take(r, 0);
	CHECK_OK(dlock_revocable(h));
	reader = take_shared(r, 0);
	give(h);
	taker_queue(&t, c, s, FOREVER);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	before = t.token;
	let_go(&t);
	give(reader);
	server_do(server, "FLUSHALL");
	h = take(m, patience_ms());
	CHECK(dlock_token(h) > before);
	give(h);
}

/* No script looks for readers while the lock has an exclusive holder, or is
 * known to be free. */
CASE(redis_name, costs_a_mutex_no_look_for_readers)
{
	struct taker t[8];
	dlock_hold *h, *none = NULL;
	uint64_t asked;

	set_up("ttl=60s");
	memset(t, 0, sizeof(t));
	give(take_shared(r, 0));
	h = take(m, 0);
	asked = calls(server, "zcard");
	for (int i = 0; i < 8; i++)
		taker_queue(&t[i], i % 2 ? a : b, i % 2 ? m : n, FOREVER);
	CHECK_RC(dlock_acquire(s, 0, &none), DLOCK_EBUSY);
	give(h);
	for (int i = 0; i < 8; i++) {
		EVENTUALLY(t[i].done);
		let_go(&t[i]);
	}
	CHECK(calls(server, "zcard") == asked);
}
