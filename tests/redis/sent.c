/* SPDX-License-Identifier: Apache-2.0 */
/* release=async: a release returns when it is sent. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(redis_sent, .timeout = 120);

enum { PAIRS = 20 };

/* No release waits for as long as `close`. */
#define QUERY "ttl=60s&release=async&close=60s"

static struct lab_server *s;
static struct diary d = DIARY_INIT;
static dlock_client *c, *other;
static dlock_lock *l, *theirs;

static void set_up(const char *query)
{
	s = server_start(NULL);
	c = client_of(s->port, query, &d);
	other = client_of(s->port, "ttl=60s", NULL);
	l = mutex(c, "x");
	theirs = mutex(other, "x");
}

static int told(enum dlock_event event)
{
	int n = 0;

	pthread_mutex_lock(&d.mu);
	for (int i = 0; i < d.n; i++)
		n += d.page[i].event == event;
	pthread_mutex_unlock(&d.mu);
	return n;
}

static int is_settled(dlock_client *client)
{
	return stats(client).pending_cleanups == 0;
}

CASE(redis_sent, is_one_command_and_no_more)
{
	uint64_t before;

	set_up(QUERY);
	warm_up(c);
	EVENTUALLY(is_settled(c));
	before = scripts_run(s);
	for (int i = 0; i < PAIRS; i++)
		give(take(l, patience_ms()));
	CHECK_INT(stats(c).pending_cleanups, <=, 1);
	EVENTUALLY(is_settled(c));
	CHECK_INT(scripts_run(s) - before, ==, 2 * PAIRS);
	CHECK_INT(connections(s), ==, 2); /* one of each client */
}

CASE(redis_sent, of_a_kept_claim_that_is_gone_loses_nothing)
{
	set_up("ttl=60s&keep=20s");
	warm_up(other);
	give(take(l, patience_ms()));
	EVENTUALLY(stats(c).kept == 1);
	CHECK_OK(dlock_break(theirs, patience_ms()));
	give(take(theirs, patience_ms()));
	EVENTUALLY(stats(c).kept == 0 && is_settled(c));
	give(take(l, patience_ms()));
	CHECK_INT(told(DLOCK_LOST), ==, 0);
	CHECK_INT(told(DLOCK_UNCONFIRMED), ==, 0);
	CHECK_INT(stats(c).lost, ==, 0);
}
