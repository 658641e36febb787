/* SPDX-License-Identifier: Apache-2.0 */
/* Users with few rights.  conform_redis.c runs the suite as a user with the
 * least rule of docs/redis.md. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "redis/rule.h"

TestSuite(redis_acl, .timeout = 120);

static dlock_client *c;
static dlock_lock *l;
static dlock_hold *h;

static struct lab_server *server;
static struct diary diary = DIARY_INIT;

static void set_up(void)
{
	server = server_start(NULL);
	server_do(server, "%s", least_rule("app", "pw"));
}

static dlock_client *open_as(const char *user, const char *query)
{
	dlock_options o = diary_options(&diary);
	char uri[160];

	snprintf(uri, sizeof(uri), "redis://%s:pw@127.0.0.1:%d/?ask=2s%s", user,
		 server->port, query);
	return client_of_case(uri, &o);
}

CASE(redis_acl, least_rule_is_not_more_than_it_must_be)
{
	char rule[1024];

	set_up();
	snprintf(rule, sizeof(rule), "%s", least_rule("app", "pw"));
	CHECK(!strstr(rule, "+@"));
	CHECK(!strstr(rule, "~*"));
	CHECK(!strstr(rule, "allkeys"));
	CHECK(!strstr(rule, "&*"));
	CHECK(!strstr(rule, "allchannels"));
	CHECK(!strstr(rule, "+flush"));
	CHECK(!strstr(rule, "+config"));
	CHECK(!strstr(rule, "+keys"));
	c = open_as("app", "");
	warm_up(c);
}

CASE(redis_acl, one_right_less_is_an_error_that_says_so)
{
	static const char *const rights[] = { "evalsha", "set", "get", "time" };
	dlock_hold *none = NULL;

	set_up();
	c = open_as("app", "&ttl=20s");
	l = mutex(c, "x");
	warm_up(c);
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		dlock_hold *h = NULL;

		server_do(server, "ACL SETUSER app -%s", rights[i]);
		CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EDENIED);
		CHECK_TEXT(dlock_errmsg(), "ACL");
		/* The server names the command that the client sent. */
		if (strcmp(rights[i], "evalsha") == 0)
			CHECK_TEXT(dlock_errmsg(), "'evalsha'");
		server_do(server, "ACL SETUSER app +%s", rights[i]);
		give(take(l, patience_ms()));
	}
	server_do(server, "ACL SETUSER app resetkeys ~other:*");
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), "ACL");
}

CASE(redis_acl, without_the_channel_waiters_poll)
{
	struct taker t = { .linger = 1 };

	set_up();
	server_do(server, "ACL SETUSER app -subscribe");
	c = open_as("app", "&ttl=3s");
	l = mutex(c, "x");
	h = take(l, patience_ms());
	taker_start(&t, l, FOREVER);
	EVENTUALLY(stats(c).waiters == 1 && stats(c).attempts >= 3);
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	let_go(&t);
	CHECK(diary_says(&diary, "ACL"));
}

/* No call waits for a channel that the server refuses. */
CASE(redis_acl, without_the_channel_no_hold_is_revocable)
{
	dlock_hold *h[2];
	int64_t begun;

	set_up();
	server_do(server, "ACL SETUSER app -subscribe");
	c = open_as("app", "&close=60s");
	h[0] = take(mutex(c, "x"), patience_ms());
	h[1] = take(semaphore(c, "s", 2), patience_ms());
	for (int i = 0; i < 6; i++) {
		begun = now_ms();
		CHECK_RC(dlock_revocable(h[i % 2]), DLOCK_EUNREACHABLE);
		CHECK_TEXT(dlock_errmsg(), "no notification channel");
		CHECK_INT(now_ms() - begun, <=, 1000 + slack_ms());
	}
	give(h[0]);
	give(h[1]);
}

/* The holder is at risk, then safe if the right comes back in time, else
 * lost. */
CASE(redis_acl, taken_away_while_held)
{
	set_up();
	c = open_as("app", "&ttl=1500ms");
	l = mutex(c, "x");
	h = take(l, patience_ms());
	server_do(server, "ACL SETUSER app -evalsha");
	EVENTUALLY(diary.risks == 1);
	server_do(server, "ACL SETUSER app +evalsha");
	EVENTUALLY(diary.safes + diary.losses == 1);
	dlock_release(h);
	h = take(l, patience_ms());
	server_do(server, "ACL SETUSER app off");
	server_do(server, "CLIENT KILL USER app");
	EVENTUALLY(diary.losses >= 1);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK(dlock_release(h) != DLOCK_OK);
}
