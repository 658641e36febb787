/* SPDX-License-Identifier: Apache-2.0 */
/* Renewals. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(redis_renew, .timeout = 120);

static struct lab_server *server;
static dlock_client *c;
static dlock_lock *l;

static void set_up(const char *query)
{
	server = server_start(NULL);
	c = client_of(server->port, query, NULL);
	l = mutex(c, "x");
}

enum { MANY = 300 };

CASE(redis_renew, of_many_is_one_flight)
{
	static dlock_lock *locks[MANY];
	static dlock_hold *holds[MANY];
	struct lab_proxy *proxy;
	uint64_t before, rounds;
	char name[32];

	server = server_start(NULL);
	proxy = proxy_start(server);
	c = client_of(lab_proxy_port(proxy), "ttl=6s", NULL);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "lock %d", i);
		locks[i] = mutex(c, name);
		holds[i] = take(locks[i], patience_ms());
	}
	before = lab_proxy_stat(proxy, LAB_UP_CHUNKS);
	rounds = stats(c).renewed;
	EVENTUALLY(stats(c).renewed >= rounds + MANY);
	CHECK_INT(lab_proxy_stat(proxy, LAB_UP_CHUNKS) - before, <, MANY / 4);
	for (int i = 0; i < MANY; i++)
		give(holds[i]);
}

/* Before the renewal, the holder knows the short lease. */
CASE(redis_renew, makes_the_lease_of_a_waiter_a_whole_one)
{
	struct lab_proxy *proxy;
	struct taker t = { 0 };
	dlock_client *far;
	dlock_lock *fl;
	dlock_hold *h;

	set_up("ttl=6s");
	proxy = proxy_start(server);
	far = client_of(lab_proxy_port(proxy), "ttl=6s", NULL);
	fl = mutex(far, "x");
	listening(server, far);
	h = take(l, 0);
	taker_queue(&t, far, fl, FOREVER);
	lab_proxy_hold(proxy, "EVAL");
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.remaining_ms, <=, 3000);
	CHECK(lab_proxy_wait(proxy, LAB_HELD, 1, patience_ms()) == 0);
	CHECK_INT(dlock_remaining_ms(t.hold), <=, 3000);
	CHECK_INT(lab_proxy_deliver(proxy), ==, 1);
	EVENTUALLY(dlock_remaining_ms(t.hold) > 3000);
	let_go(&t);
	CHECK_OK(t.release_rc);
}
