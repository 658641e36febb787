/* SPDX-License-Identifier: Apache-2.0 */
/* What a server may say instead of an answer: each its own code and words. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "support/hostile.h"

TestSuite(redis_errors, .timeout = 120);

/* ---- Every error reply, from a server that lies -------------------------- */

static const struct said {
	const char *reply;
	int code;
	const char *part;
} said[] = {
	{ "-LOADING Redis is loading the dataset in memory\r\n",
	  DLOCK_EUNREACHABLE, "loading" },
	{ "-BUSY Redis is busy running a script. You can only call SCRIPT "
	  "KILL or SHUTDOWN NOSAVE.\r\n",
	  DLOCK_EUNREACHABLE, "long script" },
	{ "-READONLY You can't write against a read only replica.\r\n",
	  DLOCK_EUNREACHABLE, "give the master" },
	{ "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data "
	  "is set to 'no'.\r\n",
	  DLOCK_EUNREACHABLE, "without its master" },
	{ "-CLUSTERDOWN The cluster is down\r\n", DLOCK_EUNREACHABLE,
	  "cluster that is down" },
	{ "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
	  DLOCK_EUNREACHABLE, "slot" },
	{ "-MOVED 866 127.0.0.1:1\r\n", DLOCK_ENOTSUP, "clusters" },
	{ "-ASK 866 127.0.0.1:1\r\n", DLOCK_ENOTSUP, "clusters" },
	{ "-CROSSSLOT Keys in request don't hash to the same slot\r\n",
	  DLOCK_ENOTSUP, "clusters" },
	{ "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
	  DLOCK_EUNREACHABLE, "maxmemory" },
	{ "-MISCONF Redis is configured to save RDB snapshots, but it's "
	  "currently unable to persist to disk.\r\n",
	  DLOCK_EUNREACHABLE, "cannot save" },
	{ "-NOREPLICAS Not enough good replicas to write.\r\n",
	  DLOCK_EUNREACHABLE, "min-replicas-to-write" },
	{ "-NOPERM this user has no permissions to run the 'evalsha' "
	  "command\r\n",
	  DLOCK_EDENIED, "ACL rule" },
	{ "-NOAUTH Authentication required.\r\n", DLOCK_EDENIED,
	  "wants a password" },
	{ "-WRONGPASS invalid username-password pair or user is disabled.\r\n",
	  DLOCK_EDENIED, "refused our user name" },
	{ "-DENIED Redis is running in protected mode\r\n", DLOCK_EDENIED,
	  "protected mode" },
	{ "-ERR max number of clients reached\r\n", DLOCK_EUNREACHABLE,
	  "maxclients" },
	{ "-WRONGTYPE Operation against a key holding the wrong kind of "
	  "value\r\n",
	  DLOCK_EPROTO, "another type" },
	{ "-ERR unknown command 'evalsha', with args beginning with:\r\n",
	  DLOCK_ENOTSUP, "6.2" },
	{ "-ERR something that nobody has heard of\r\n", DLOCK_EPROTO,
	  "nobody has heard of" },
	{ "-\r\n", DLOCK_EPROTO, "" },
};

CASE(redis_errors, each_has_a_code_and_a_message_of_its_own)
{
	enum { COUNT = sizeof(said) / sizeof(said[0]) };
	static char told[COUNT][256];
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h), "ask=300ms", NULL);
	dlock_lock *l = mutex(c, "x");

	warm_up(c);
	for (size_t i = 0; i < COUNT; i++) {
		dlock_hold *hold = NULL;

		hostile_say(h, "EVAL", said[i].reply, strlen(said[i].reply));
		CHECK_RC(dlock_acquire(l, 0, &hold), said[i].code);
		CHECK_TEXT(dlock_errmsg(), said[i].part);
		snprintf(told[i], sizeof(told[i]), "%s", dlock_errmsg());
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(told[i], told[j]) != 0);
		hostile_say(h, NULL, NULL, 0);
		give(take(l, patience_ms()));
	}
}

/* A refusal is an answer, after which nothing is on its way: one release, and
 * not one after the other until the lease must have run out. */
CASE(redis_errors, that_refuse_cost_no_clean_up)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *c = client_of(server->port, "ttl=60s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *none = NULL;
	uint64_t run;

	warm_up(c);
	server_do(server, "SET dlock:{lnx} junk");
	run = scripts_run(server);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EPROTO);
	EVENTUALLY(stats(c).pending_cleanups == 0);
	CHECK_INT((int)(scripts_run(server) - run), <=, 3);
	server_do(server, "DEL dlock:{lnx}");
	server_do(server, "CONFIG SET maxmemory 1");
	run = scripts_run(server);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "no memory left");
	EVENTUALLY(stats(c).pending_cleanups == 0);
	CHECK_INT((int)(scripts_run(server) - run), <=, 3);
	server_do(server, "CONFIG SET maxmemory 0");
	give(take(l, patience_ms()));
}

/* An error that may pass is waited for. */
CASE(redis_errors, that_pass_are_borne)
{
	static const char loading[] = "-LOADING Redis is loading\r\n";
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	static struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(hostile_port(h), "ttl=3s", &diary);
	dlock_lock *l = mutex(c, "x");
	struct taker t = { .linger = 1 };

	hostile_say(h, "EVAL", loading, sizeof(loading) - 1);
	taker_start(&t, l, patience_ms());
	EVENTUALLY(hostile_lies(h) >= 3);
	CHECK(!t.done);
	hostile_say(h, NULL, NULL, 0);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	hostile_say(h, "EVAL", loading, sizeof(loading) - 1);
	EVENTUALLY(diary.risks == 1);
	hostile_say(h, NULL, NULL, 0);
	EVENTUALLY(diary.safes == 1);
	let_go(&t);
	CHECK_OK(t.release_rc);
	CHECK_INT((int)stats(c).pending_cleanups, ==, 0);
}

/* ---- What is in the way -------------------------------------------------- */

CASE(redis_errors, a_key_of_another_type_is_named)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *c = client_of(server->port, NULL, NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(l, 0);
	char key[256];

	snprintf(key, sizeof(key), "%s", only_key(server));
	give(h);
	server_do(server, "DEL %s", key);
	server_do(server, "LPUSH %s a", key);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), "another type");
	CHECK_TEXT(server_do(server, "TYPE %s", key), "list");
	server_do(server, "DEL %s", key);
	give(take(l, 0));
}

/* Sixteen digits are a token; what a computer language may take for a number,
 * too, is somebody's. */
CASE(redis_errors, a_key_that_is_not_quite_a_token_is_left_alone)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *c = client_of(server->port, "ttl=2s", NULL);
	dlock_lock *l = mutex(c, "x"), *other = mutex(c, "other");
	dlock_hold *h = NULL;

	server_do(server, "SET dlock:{lnx} 0x00000000000001");
	for (int i = 0; i < 20; i++) {
		/* The short way is for tenths of a second with a token. */
		give(take(other, 0));
		CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EPROTO);
		CHECK_TEXT(dlock_errmsg(), "never expires");
	}
	CHECK_TEXT(server_do(server, "GET dlock:{lnx}"), "0x00000000000001");
	server_do(server, "DEL dlock:{lnx}");
}

CASE(redis_errors, a_key_that_does_not_expire_is_named)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *c = client_of(server->port, "ttl=2s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(l, 0);
	char key[256];

	snprintf(key, sizeof(key), "%s", only_key(server));
	give(h);
	server_do(server, "SET %s something", key);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), "never expires");
	CHECK_RC(dlock_acquire(l, patience_ms(), &h), DLOCK_EPROTO);
	CHECK_TEXT(server_do(server, "GET %s", key), "something");
	CHECK_OK(dlock_break(l, patience_ms()));
	h = take(l, 0);
	/* Ours, made endless by somebody who meant well. */
	server_do(server, "PERSIST %s", key);
	{
		dlock_client *other = client_of(server->port, NULL, NULL);
		dlock_lock *theirs = mutex(other, "x");
		dlock_hold *none = NULL;

		CHECK_RC(dlock_acquire(theirs, 0, &none), DLOCK_EPROTO);
		CHECK_TEXT(dlock_errmsg(), "expiry");
		end(other, theirs);
	}
	give(h);
}

/* One that does expire is waited for. */
CASE(redis_errors, a_foreign_key_that_expires_is_waited_for)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *c = client_of(server->port, "ttl=3s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(l, 0);
	char key[256];

	snprintf(key, sizeof(key), "%s", only_key(server));
	give(h);
	server_do(server, "SET %s something PX 400", key);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
	give(take(l, patience_ms()));
}

/* ---- Limits of the server ------------------------------------------------ */

CASE(redis_errors, a_full_server_takes_no_locks_but_lets_them_go)
{
	struct lab_redis_options o = { .policy = "noeviction" };
	struct lab_server *server = server_start(&o);
	static struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(server->port, "ttl=1500ms&ask=300ms",
				    &diary);
	dlock_lock *l = mutex(c, "x"), *m = mutex(c, "y");
	dlock_hold *h = take(l, 0), *none = NULL;
	uint64_t token = dlock_token(h), renewed;

	server_do(server, "CONFIG SET maxmemory 1");
	CHECK_RC(dlock_acquire(m, 0, &none), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "maxmemory");
	/* The long way, which notes how far tokens have come, fails too. */
	server_do(server, "DEL dlock:clock");
	CHECK_RC(dlock_acquire(m, 0, &none), DLOCK_EUNREACHABLE);
	renewed = stats(c).renewed;
	EVENTUALLY(stats(c).renewed >= renewed + 2);
	CHECK_INT(diary.losses, ==, 0);
	give(h);
	server_do(server, "CONFIG SET maxmemory 0");
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
	give(take(m, patience_ms()));
}

/* Those who share it write more than an expiry when they renew. */
CASE(redis_errors, a_full_server_renews_what_is_shared)
{
	struct lab_redis_options o = { .policy = "noeviction" };
	struct lab_server *server = server_start(&o);
	static struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(server->port, "ttl=900ms", &diary);
	dlock_lock *r = rwlock(c, "r"), *s = semaphore(c, "s", 2);
	dlock_lock *w = rwlock(c, "w");
	dlock_hold *reader = take_shared(r, 0), *permit = take(s, 0);
	dlock_hold *writer = take(w, 0), *read = take_shared(w, 0);
	uint64_t renewed;

	server_do(server, "CONFIG SET maxmemory 1");
	/* And a writer can let readers in. */
	give(writer);
	renewed = stats(c).renewed;
	EVENTUALLY(stats(c).renewed >= renewed + 9 || diary.risks > 0);
	CHECK_INT(diary.risks, ==, 0);
	CHECK(!diary_says(&diary, "maxmemory"));
	CHECK_TEXT(server_do(server, "ZCARD dlock:{lnw}:s"), "1");
	give(reader);
	give(permit);
	give(read);
	server_do(server, "CONFIG SET maxmemory 0");
}

/* As above, with a waiter. */
CASE(redis_errors, a_full_server_passes_locks_on)
{
	struct lab_redis_options o = { .policy = "noeviction" };
	struct lab_server *server = server_start(&o);
	dlock_client *c = client_of(server->port, "ttl=3s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(elsewhere(server, "ttl=3s"), 0);
	struct taker t = { 0 };

	taker_queue(&t, c, l, 2 * patience_ms());
	server_do(server, "CONFIG SET maxmemory 1");
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	server_do(server, "CONFIG SET maxmemory 0");
	let_go(&t);
}

CASE(redis_errors, an_eviction_is_warned_of_and_found)
{
	struct lab_redis_options o = { .maxmemory = "6mb",
				       .policy = "volatile-ttl" };
	struct lab_server *server = server_start(&o);
	static struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(server->port, "ttl=3s", &diary);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;
	uint64_t token;
	int64_t begin;

	CHECK(diary_says(&diary, "volatile-ttl"));
	h = take(l, 0);
	token = dlock_token(h);
	begin = now_ms();
	for (int i = 0; i < 12 && lab_redis_info(server, "evicted_keys") < 1;
	     i++)
		lab_redis_do(server, NULL, 0, "SETRANGE fill%d 500000 x", i);
	CHECK_INT(lab_redis_info(server, "evicted_keys"), >=, 1);
	begin = now_ms();
	EVENTUALLY(diary.losses == 1);
	CHECK_INT(diary.lost_ms - begin, <=, 1000 + 100 + slack_ms());
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	server_do(server, "FLUSHALL");
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
}

CASE(redis_errors, a_server_without_room_for_clients_says_so)
{
	struct lab_redis_options o = { .config = "maxclients 4\n" };
	struct lab_server *server = server_start(&o);
	dlock_client *c[4] = { NULL };
	int rc = DLOCK_OK, n = 0;

	while (n < 4 && rc == DLOCK_OK)
		rc = dlock_open(&c[n++], uri_of(server->port, "connect=1s"),
				NULL);
	if (rc == DLOCK_OK) {
		dlock_client *one_more = NULL;

		rc = dlock_open(&one_more, uri_of(server->port, "connect=1s"),
				NULL);
	} else {
		n--;
	}
	CHECK_RC(rc, DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "maxclients");
	while (n > 0)
		dlock_close(c[--n]);
	EVENTUALLY(lab_redis_do(server, NULL, 0, "PING") == 0);
}

CASE(redis_errors, a_server_that_is_blocked_by_a_script_is_waited_for)
{
	struct lab_redis_options o = { .config = "lua-time-limit 50\n" };
	struct lab_server *server = server_start(&o);
	dlock_client *c = client_of(server->port, "ttl=30s&ask=2s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = NULL;
	struct lab_address to = lab_server_address(server);
	const char *loop = "EVAL \"while true do end\" 0\r\n";
	int fd = lab_connect(&to, now_ms() * 1000000 + 5000000000);

	warm_up(c);
	CHECK(fd >= 0);
	CHECK(lab_send(fd, loop, strlen(loop),
		       now_ms() * 1000000 + 5000000000) == 0);
	EVENTUALLY(lab_redis_do(server, NULL, 0, "PING") < 0);
	CHECK_TEXT(lab_errmsg(), "BUSY");
	CHECK_RC(dlock_acquire(l, 200, &h), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "script");
	EVENTUALLY(lab_redis_do(server, NULL, 0, "SCRIPT KILL") == 0);
	give(take(l, patience_ms()));
	close(fd);
}
