/* SPDX-License-Identifier: Apache-2.0 */
/* Renewals: whose they are, and what they must not do. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(redis_renew, .timeout = 120);

static struct lab_server *server;
static struct diary diary = DIARY_INIT;
static dlock_client *c;
static dlock_lock *l;

static void set_up(const char *query)
{
	server = server_start(NULL);
	c = client_of(server->port, query, &diary);
	l = mutex(c, "x");
}

CASE(redis_renew, does_not_make_a_claim_that_is_gone)
{
	dlock_hold *h;

	set_up("ttl=600ms");
	h = take(l, 0);
	EVENTUALLY(stats(c).renewed >= 1);
	server_do(server, "DEL %s", only_key(server));
	EVENTUALLY(diary.losses == 1);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK_TEXT(server_do(server, "KEYS *{*"), "*0\r\n");
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

CASE(redis_renew, does_not_prolong_what_is_anothers)
{
	dlock_client *other;
	dlock_lock *theirs;
	dlock_hold *h, *g;
	const char *key;

	set_up("ttl=900ms");
	h = take(l, 0);
	key = only_key(server);
	server_do(server, "DEL %s", key);
	other = client_of(server->port, "ttl=60s", NULL);
	theirs = mutex(other, "x");
	g = take(theirs, 0);
	EVENTUALLY(diary.losses == 1);
	/* Theirs has the lease that they asked for, and not ours. */
	CHECK_INT(atoll(server_do(server, "PTTL %s", key)), >, 30000);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_OK(dlock_check(g));
	CHECK(dlock_token(g) > 0);
	CHECK_INT(atoll(server_do(server, "PTTL %s", key)), >, 30000);
	give(g);
}

/* The same for the sides that are shared. */
CASE(redis_renew, of_a_reader_and_a_permit_finds_a_loss)
{
	dlock_lock *r, *s;
	dlock_hold *hr, *hs;

	set_up("ttl=900ms");
	r = rwlock(c, "r");
	s = semaphore(c, "s", 2);
	hr = take_shared(r, 0);
	hs = take(s, 0);
	EVENTUALLY(stats(c).renewed >= 4);
	CHECK_OK(dlock_check(hr));
	CHECK_OK(dlock_check(hs));
	server_do(server, "FLUSHALL");
	EVENTUALLY(diary.losses == 2);
	CHECK_RC(dlock_release(hr), DLOCK_ELOST);
	CHECK_RC(dlock_release(hs), DLOCK_ELOST);
}

enum { MANY = 300 };

/* One flight for all, whatever they are: the server's clients read in bulk. */
CASE(redis_renew, of_many_is_one_flight)
{
	static dlock_lock *locks[MANY];
	static dlock_hold *holds[MANY];
	struct lab_proxy *proxy;
	uint64_t before, rounds;
	char name[32];

	server = server_start(NULL);
	proxy = proxy_start(server);
	c = client_of(lab_proxy_port(proxy), "ttl=6s", &diary);
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

CASE(redis_renew, does_not_wait_for_a_server_that_stands_still)
{
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=1500ms");
	h = take(l, 0);
	EVENTUALLY(stats(c).renewed >= 1);
	begin = now_ms();
	CHECK(lab_server_pause(server) == 0);
	EVENTUALLY(diary.losses == 1);
	CHECK_INT(diary.lost_ms - begin, <=, 1500 + slack_ms());
	CHECK_INT(diary.risks, ==, 1);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK(lab_server_resume(server) == 0);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	give(take(l, patience_ms()));
}

CASE(redis_renew, bears_a_short_standstill)
{
	dlock_hold *h;

	set_up("ttl=6s");
	h = take(l, 0);
	CHECK(lab_server_pause(server) == 0);
	EVENTUALLY(diary.risks == 1);
	CHECK(lab_server_resume(server) == 0);
	EVENTUALLY(diary.safes == 1);
	CHECK_OK(dlock_check(h));
	give(h);
}

/* A client that waited for longer than a lease is told what is left of it now,
 * counted from its last attempt; and soon has a whole lease. */
CASE(redis_renew, a_lease_begins_with_the_attempt_that_brought_it)
{
	struct taker t = { 0 };
	dlock_client *other;
	dlock_lock *theirs;
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=900ms");
	other = client_of(server->port, "ttl=900ms", NULL);
	theirs = mutex(other, "x");
	h = take(theirs, 0);
	taker_queue(&t, c, l, FOREVER);
	nap_ms(dlock_ttl_ms(c) * 5 / 4);
	begin = now_ms();
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.remaining_ms, >, 0);
	CHECK_INT(t.remaining_ms, <=, 900);
	EVENTUALLY(dlock_remaining_ms(t.hold) > 600);
	CHECK_INT(now_ms() - begin, <=, 300 + slack_ms());
	CHECK_INT(diary.losses, ==, 0);
	let_go(&t);
	CHECK_OK(t.release_rc);
}

/* Until that is done, it is told as the short one that it is. */
CASE(redis_renew, is_what_makes_a_waiters_lease_a_whole_one)
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
