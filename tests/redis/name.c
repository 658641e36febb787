/* SPDX-License-Identifier: Apache-2.0 */
/* All handles of a name are the same lock. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(redis_name, .timeout = 120);

#define KEY "dlock:{lnx}"

/* The clients of the handles of "x". */
static struct lab_server *server;
static struct lab_proxy *proxy;
static struct diary diary = DIARY_INIT;
static dlock_client *a, *b, *c;
static dlock_lock *m, *n; /* mutexes of a and b */
static dlock_lock *r, *s; /* read-write locks of b and c */

static void set_up(const char *query)
{
	server = two_start(query, &diary, &a, &b);
	proxy = proxy_start(server);
	healed_at_end(proxy);
	c = client_of(lab_proxy_port(proxy), query, &diary);
	warm_up(c);
	m = mutex(a, "x");
	n = mutex(b, "x");
	r = rwlock(b, "x");
	s = rwlock(c, "x");
}

static int count(const char *command)
{
	return atoi(server_do(server, "%s", command));
}

/* A message granted `t`, not a later attempt. */
static void granted(struct taker *t, int64_t since_ms)
{
	EVENTUALLY(t->done);
	CHECK_OK(t->rc);
	CHECK_INT(t->done_ms - since_ms, <, dlock_ttl_ms(a) / 4);
}

/* The key of a shared lock lives for a second after each change. */
CASE(redis_name, is_one_lock_while_its_own_key_is_gone)
{
	struct taker t = { 0 };
	dlock_hold *h, *none = NULL;
	int64_t begin;

	set_up("ttl=60s");
	h = take_shared(s, 0);
	EVENTUALLY(count("EXISTS " KEY) == 0);
	CHECK_RC(dlock_acquire(m, 0, &none), DLOCK_EBUSY);
	taker_queue(&t, a, m, FOREVER);
	CHECK(!t.done);
	EVENTUALLY(count("EXISTS " KEY) == 0);
	CHECK_RC(dlock_acquire(n, 0, &none), DLOCK_EBUSY);
	CHECK_RC(dlock_acquire_shared(r, 0, &none), DLOCK_EBUSY);
	EVENTUALLY(count("EXISTS " KEY) == 0);
	begin = now_ms();
	give(h);
	granted(&t, begin);
	let_go(&t);
}

/* Adjacent readers enter together. */
CASE(redis_name, has_one_queue)
{
	struct taker t[] = { { .shared = 1 }, { .shared = 1 }, { 0 },
			     { .shared = 1 }, { 0 },           { 0 } };
	dlock_client *other;
	dlock_hold *h;
	int64_t begin;

	/* A client without waiters does not watch the claim. */
	set_up("ttl=60s");
	other = client_of(server->port, "ttl=60s", NULL);
	h = take(mutex(other, "x"), 0);
	taker_queue(&t[0], b, r, FOREVER);
	taker_queue(&t[1], c, s, FOREVER);
	taker_queue(&t[2], a, m, FOREVER);
	taker_queue(&t[3], c, s, FOREVER);
	taker_queue(&t[4], c, s, FOREVER);
	taker_queue(&t[5], b, n, FOREVER);
	give(take(mutex(other, "another"), 0)); /* sets the clock's key */
	begin = now_ms();
	give(h);
	granted(&t[0], begin);
	granted(&t[1], begin);
	let_go(&t[1]);
	ALL_ALONG(50, !t[2].done && !t[3].done);
	for (int i = 2; i < 6; i++) {
		begin = now_ms();
		let_go(&t[i == 2 ? 0 : i - 1]);
		granted(&t[i], begin);
		CHECK(t[i].token > t[i - 1].token);
		ALL_ALONG(20, i == 5 || !t[i + 1].done);
	}
	let_go(&t[5]);
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

/* ---- Inspections --------------------------------------------------------- */

struct shown {
	int holders, readers, writers_waiting, readers_waiting;
};

static void show(const struct dlock_participant *p, void *arg)
{
	struct shown *out = arg;

	out->holders += !p->waiting && !p->shared;
	out->readers += !p->waiting && p->shared;
	out->writers_waiting += p->waiting && !p->shared;
	out->readers_waiting += p->waiting && p->shared;
}

static void shows(dlock_lock *l, int holders, int readers, int writers_waiting,
		  int readers_waiting)
{
	struct shown is = { 0 };

	CHECK_OK(dlock_inspect(l, show, &is, patience_ms()));
	CHECK_INT(is.holders, ==, holders);
	CHECK_INT(is.readers, ==, readers);
	CHECK_INT(is.writers_waiting, ==, writers_waiting);
	CHECK_INT(is.readers_waiting, ==, readers_waiting);
}

static void is_x(const struct dlock_lock_info *e, void *arg)
{
	++*(int *)arg;
	CHECK_TEXT(e->kind, "lock");
	CHECK(strcmp(e->name, "x") == 0);
	CHECK_INT((int)e->permits, ==, 0);
}

static int listed(void)
{
	int entries = 0;

	CHECK_OK(dlock_list(a, is_x, &entries, patience_ms()));
	return entries;
}

CASE(redis_name, is_shown_alike_by_every_handle)
{
	struct taker t = { 0 }, u = { .shared = 1 };
	dlock_hold *h;

	set_up("ttl=60s");
	listening(server, b);
	listening(server, c);
	CHECK_INT(listed(), ==, 0);
	h = take(m, 0);
	CHECK_INT(listed(), ==, 1);
	taker_queue(&t, b, n, FOREVER);
	taker_queue(&u, c, s, FOREVER);
	shows(m, 1, 0, 1, 1);
	shows(r, 1, 0, 1, 1);
	/* As if the holder had died. */
	server_do(server, "DEL " KEY);
	shows(s, 0, 0, 1, 1);
	CHECK_INT(listed(), ==, 1);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	EVENTUALLY(t.done);
	let_go(&t);
	EVENTUALLY(u.done);
	shows(m, 0, 1, 0, 0);
	shows(r, 0, 1, 0, 0);
	CHECK_INT(listed(), ==, 1);
	let_go(&u);
	shows(m, 0, 0, 0, 0);
	CHECK_INT(listed(), ==, 0);
}

/* ---- Costs --------------------------------------------------------------- */

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
