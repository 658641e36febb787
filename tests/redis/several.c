/* SPDX-License-Identifier: Apache-2.0 */
/* A host name that leads to several servers, or to another server later.
 * tests/loop/home.c plays the rest with scripted servers. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "lab/base/fail.h"
#include "support/names.h"

/* A renewal would find a loss after ten seconds.  A waiter's request may take
 * five. */
#define URI "redis://many.test/" QUERY
#define QUERY "?ttl=30s&ask=1s&connect=5s&close=5s"
#define SOON_MS 5000

TestSuite(redis_several, .timeout = 120);

static struct lab_server *a, *b;
static struct diary diary = DIARY_INIT;
static dlock_client *c;
static dlock_lock *l;

static void set_up(const struct lab_redis_options *o)
{
	a = server_start(o);
	b = server_start(o);
	server_unchecked(a);
	server_unchecked(b);
}

static void open_at(int port, int other_port)
{
	dlock_options o = diary_options(&diary);

	names_lead_to(port, other_port);
	c = client_of_case(URI, &o);
	l = mutex(c, "x");
}

/* The resolver's order is chance, so each of two clients would take the lock at
 * another server. */
CASE(redis_several, servers_of_one_name_are_refused)
{
	char both[80];

	set_up(NULL);
	for (int i = 0; i < 2; i++) {
		names_lead_to(i ? b->port : a->port, i ? a->port : b->port);
		snprintf(both, sizeof(both),
			 "127.0.0.1:%d and 127.0.0.1:%d are two servers",
			 i ? b->port : a->port, i ? a->port : b->port);
		opening_fails(URI, DLOCK_EINVAL, both);
	}
}

/* A waiter hears of the server's end at once.  The client verifies every hold,
 * and the wait goes on at the other server. */
CASE(redis_several, a_server_that_has_gone_is_a_fail_over)
{
	struct taker t = { 0 };
	dlock_hold *h, *theirs;
	int64_t begin;

	set_up(NULL);
	open_at(a->port, 0);
	h = take(l, 0);
	theirs = take(mutex(client_of(a->port, "ttl=30s", NULL), "y"), 0);
	taker_queue(&t, c, mutex(c, "y"), 20000);
	names_lead_to(b->port, 0);
	CHECK(lab_server_kill(a) == 0);
	begin = now_ms();
	EVENTUALLY(diary.losses == 1);
	EVENTUALLY(t.done);
	CHECK_INT(now_ms() - begin, <=, SOON_MS);
	CHECK_INT(t.rc, ==, DLOCK_OK);
	CHECK(diary_says(&diary, "is another server"));
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	dlock_release(h);
	let_go(&t);
	CHECK_OK(t.release_rc);
	dlock_release(theirs);
}

/* The first request to the new run has all holds verified. */
CASE(redis_several, a_server_started_anew_is_a_fail_over)
{
	dlock_lock *other;
	dlock_hold *h;
	int64_t begin;

	set_up(NULL);
	open_at(a->port, 0);
	other = mutex(c, "y");
	h = take(l, 0);
	CHECK(lab_server_kill(a) == 0);
	if (lab_server_restart(a, false) < 0)
		FAIL("%s", lab_errmsg());
	begin = now_ms();
	give(take(other, patience_ms()));
	EVENTUALLY(diary.losses == 1);
	CHECK_INT(diary.lost_ms - begin, <=, SOON_MS);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}
