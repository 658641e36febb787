/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is 150 ms away or more, with a URI that does not say so. */
#include "support.h"

#include <criterion/criterion.h>

#include "lab/base/fail.h"

TestSuite(redis_distance, .timeout = 120);

static struct lab_server *server;
static struct lab_proxy *proxy;

static void set_up(void)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	healed_at_end(proxy);
	lab_proxy_delay(proxy, LAB_UP, 75);
	lab_proxy_delay(proxy, LAB_DOWN, 75);
}

/* Unlike client_of(), without ask=. */
static dlock_client *far_client(const char *query)
{
	dlock_client *c = NULL;

	CHECK_OK(dlock_open(&c, uri_of(lab_proxy_port(proxy), query), NULL));
	return closed_at_end(c);
}

/* From the first one, which the server does not know the scripts of. */
CASE(redis_distance, of_150_ms_is_bridged_by_every_try)
{
	dlock_lock *l;

	set_up();
	l = mutex(far_client(NULL), "x");
	for (int i = 0; i < 5; i++)
		give(take(l, 0));
}

/* Each of them needs a connection of its own, which is made for it. */
CASE(redis_distance, of_150_ms_is_bridged_by_a_try_that_must_connect)
{
	enum { N = 4 };
	struct taker t[N] = { { 0 } };
	dlock_client *far;
	char name[] = "0";

	set_up();
	far = far_client(NULL);
	warm_up(far);
	for (int i = 0; i < N; i++) {
		name[0] = (char)('0' + i);
		taker_start(&t[i], mutex(far, name), 0);
	}
	for (int i = 0; i < N; i++) {
		EVENTUALLY(t[i].done);
		CHECK_OK(t[i].rc);
		let_go(&t[i]);
	}
}

/* The way grows to `way_ms` while the client is open, and acquires that wait
 * `wait_ms` come to succeed.  A single acquire has no time to connect, be
 * greeted and ask, so later acquires use the connection. */
static void grow_and_find(int way_ms, int64_t wait_ms)
{
	dlock_hold *h = NULL;
	dlock_lock *l;

	set_up();
	lab_proxy_heal(proxy);
	l = mutex(far_client(NULL), "x");
	for (int i = 0; i < 20; i++)
		give(take(l, patience_ms()));
	lab_proxy_delay(proxy, LAB_UP, way_ms / 2);
	lab_proxy_delay(proxy, LAB_DOWN, way_ms / 2);
	EVENTUALLY(dlock_acquire(l, wait_ms, &h) == DLOCK_OK);
	give(h);
	for (int i = 0; i < 3; i++)
		give(take(l, wait_ms));
	server_unchecked(server);
}

CASE(redis_distance, that_grows_to_400_ms_is_found_by_tries)
{
	grow_and_find(400, 0);
}

CASE(redis_distance, that_grows_to_400_ms_is_found_by_waits)
{
	grow_and_find(400, 300);
}

CASE(redis_distance, that_grows_to_700_ms_is_found_by_tries)
{
	grow_and_find(700, 0);
}

CASE(redis_distance, that_grows_to_700_ms_is_found_by_waits)
{
	grow_and_find(700, 300);
}
