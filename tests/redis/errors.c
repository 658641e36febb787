/* SPDX-License-Identifier: Apache-2.0 */
/* What a server may say instead of an answer: each its own code and words. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "redis/hostile.h"

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
	{ "-MOVED 866 127.0.0.1:1\r\n", DLOCK_ENOTSUP, "does not have" },
	{ "-ASK 866 127.0.0.1:1\r\n", DLOCK_ENOTSUP, "giving this lock away" },
	{ "-CROSSSLOT Keys in request don't hash to the same slot\r\n",
	  DLOCK_EPROTO, "several slots" },
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

Test(redis_errors, each_has_a_code_and_a_message_of_its_own)
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
	end(c, l);
	hostile_free(h);
	server_end(server);
}

/* An error that may pass is waited for. */
Test(redis_errors, that_pass_are_borne)
{
	static const char loading[] = "-LOADING Redis is loading\r\n";
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(hostile_port(h), "ttl=3s", &diary);
	dlock_lock *l = mutex(c, "x");
	struct taker t = { 0 };

	hostile_say(h, "EVAL", loading, sizeof(loading) - 1);
	taker_start(&t, c, l, patience_ms(), 0);
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
	end(c, l);
	hostile_free(h);
	server_end(server);
}

/* ---- Nonsense ------------------------------------------------------------ */

#define BYTES(text)                                                            \
	{                                                                      \
		text, sizeof(text) - 1                                         \
	}

static const struct nonsense {
	const char *bytes;
	size_t len;
} nonsense[] = {
	BYTES("+OK\r\n"),
	BYTES("+\r\n"),
	BYTES(":0\r\n"),
	BYTES(":1\r\n"),
	BYTES(":-1\r\n"),
	BYTES(":9223372036854775807\r\n"),
	BYTES(":99999999999999999999999\r\n"),
	BYTES("$-1\r\n"),
	BYTES("$0\r\n\r\n"),
	BYTES("$1\r\nB\r\n"),
	BYTES("$2\r\nB \r\n"),
	BYTES("$23\r\nB -99999999999999999999\r\n"),
	BYTES("$16\r\n0000000000000000\r\n"),
	BYTES("$16\r\n1234567890\0\0\0\0\0\0\r\n"),
	BYTES("$17\r\n99999999999999999\r\n"),
	BYTES("$2\r\nL \r\n"),
	BYTES("$13\r\nL 99999999999\r\n"),
	BYTES("$-2\r\n"),
	BYTES("$4294967296\r\nabc"),
	BYTES("$9223372036854775807\r\n"),
	BYTES("$536870912\r\n"),
	BYTES("*-1\r\n"),
	BYTES("*0\r\n"),
	BYTES("*1\r\n$2\r\nOK\r\n"),
	BYTES("*1000000000\r\n"),
	BYTES("*4294967296\r\n"),
	BYTES("*2147483647\r\n*2147483647\r\n*2147483647\r\n"),
	BYTES("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1"
	      "\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"),
	BYTES("%1\r\n+a\r\n+b\r\n"), /* RESP3 */
	BYTES("_\r\n"),
	BYTES("#t\r\n"),
	BYTES(",1.5\r\n"),
	BYTES("(12345678901234567890\r\n"),
	BYTES("=5\r\ntxt:a\r\n"),
	BYTES("~1\r\n+a\r\n"),
	BYTES(">2\r\n+a\r\n+b\r\n"),
	BYTES("|1\r\n+a\r\n+b\r\n+c\r\n"),
	BYTES("!3\r\nERR\r\n"),
	BYTES("\r\n"),
	BYTES("\0\0\0\0"),
	BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"),
	BYTES("\x16\x03\x01\x02\x00"),
	BYTES("$5\r\nabc\r\n:1\r\n:2\r\n:3\r\n"), /* and more than asked for */
};

enum { NONSENSE = sizeof(nonsense) / sizeof(nonsense[0]) };

static void is_no_lock(dlock_lock *l, size_t which)
{
	int64_t begin = now_ms();
	dlock_hold *h = NULL;
	int rc = dlock_acquire(l, 0, &h);

	if (rc != DLOCK_EPROTO && rc != DLOCK_EUNREACHABLE &&
	    rc != DLOCK_EINVAL)
		FAIL("%s for nonsense %zu: %.20s", check_code(rc), which,
		     nonsense[which].bytes);
	CHECK(dlock_errmsg()[0] != '\0');
	CHECK_INT(now_ms() - begin, <=, 60 + 2 * slack_ms());
}

Test(redis_errors, nonsense_to_an_acquire_is_no_lock)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h),
				    "ttl=1s&ask=60ms&connect=200ms&close=200ms",
				    NULL);
	dlock_lock *l = mutex(c, "x"), *r = rwlock(c, "r");
	dlock_hold *hold = NULL;

	warm_up(c);
	for (size_t i = 0; i < NONSENSE; i++) {
		hostile_say(h, "EVAL", nonsense[i].bytes, nonsense[i].len);
		is_no_lock(l, i);
		CHECK(dlock_acquire_shared(r, 0, &hold) != DLOCK_OK);
		hostile_say(h, NULL, NULL, 0);
	}
	give(take(l, patience_ms()));
	give(take_shared(r, patience_ms()));
	dlock_free(r);
	end(c, l);
	hostile_free(h);
	server_end(server);
}

/* Nothing but a certain "gone" ends a hold before its lease. */
Test(redis_errors, nonsense_to_a_renewal_is_no_loss)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(hostile_port(h), "ttl=20s", &diary);
	dlock_client *quick;
	dlock_lock *l, *ql;
	dlock_hold *hold;

	/* The first hold is the one to be renewed; many quick rounds of another
	 * client go by what the table says. */
	quick = client_of(hostile_port(h),
			  "ttl=2s&ask=60ms&connect=100ms&close=100ms", &diary);
	l = mutex(c, "x");
	ql = mutex(quick, "y");
	warm_up(c);
	for (size_t i = 0; i < NONSENSE; i += 6) {
		uint64_t failed;

		hold = take(ql, patience_ms());
		failed = stats_of(quick).renew_failed;
		hostile_say(h, "EVAL", nonsense[i].bytes, nonsense[i].len);
		EVENTUALLY(stats_of(quick).renew_failed > failed ||
			   stats_of(quick).renewed > 0 || diary.losses);
		hostile_say(h, NULL, NULL, 0);
		if (nonsense[i].bytes[0] != ':')
			CHECK_INT(diary.losses, ==, 0);
		dlock_release(hold);
		EVENTUALLY(stats_of(quick).remnants == 0);
	}
	end(c, l);
	end(quick, ql);
	hostile_free(h);
	server_end(server);
}

static void no_party(const struct dlock_party *party, void *arg)
{
	(void)party;
	(void)arg;
}

static void no_entry(const struct dlock_entry *entry, void *arg)
{
	(void)entry;
	(void)arg;
}

Test(redis_errors, nonsense_to_everything_else_is_an_error)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h),
				    "ttl=1s&ask=50ms&connect=100ms&close=100ms",
				    NULL);
	dlock_lock *r = rwlock(c, "r");

	for (size_t i = 0; i < NONSENSE; i++) {
		dlock_client *none = NULL;
		dlock_hold *w = take(r, patience_ms());
		dlock_hold *both = take_shared(r, patience_ms());

		/* Inspect, list, break, downgrade, release, open: whatever they
		 * answer, they do so in time and the process lives. */
		hostile_say(h, NULL, nonsense[i].bytes, nonsense[i].len);
		dlock_inspect(r, no_party, NULL, 30);
		dlock_list(c, no_entry, NULL, 30);
		dlock_break(r, 30);
		dlock_release(w);
		dlock_release(both);
		if (dlock_open(&none, uri_of(hostile_port(h), "connect=50ms"),
			       NULL) == DLOCK_OK)
			dlock_close(none);
		hostile_say(h, NULL, NULL, 0);
	}
	end(c, r);
	hostile_free(h);
	server_end(server);
}

Test(redis_errors, nonsense_in_the_inbox_harms_nobody)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h), "ttl=1s", NULL);
	dlock_client *direct = client_of(server->port, "ttl=1s", NULL);
	dlock_lock *l = mutex(c, "x"), *dl = mutex(direct, "x");

	for (size_t i = 0; i < NONSENSE; i += 3) {
		dlock_hold *hold = take(dl, patience_ms());
		struct taker t = { 0 };

		taker_start(&t, c, l, 2 * patience_ms(), 1);
		hostile_push(h, nonsense[i].bytes, nonsense[i].len);
		give(hold);
		EVENTUALLY(t.done);
		CHECK_OK(t.rc);
		let_go(&t);
	}
	end(c, l);
	end(direct, dl);
	hostile_free(h);
	server_end(server);
}

/* Whoever sends without end is not listened to without end. */
Test(redis_errors, a_flood_is_not_kept)
{
	static const char *const begins[] = { "$4294967296\r\n", "+", "-",
					      "*1000000\r\n$60000000\r\n" };
	struct lab_server *server = server_start(NULL);

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		struct hostile *h = hostile_start(server);
		dlock_client *c = client_of(hostile_port(h),
					    "ttl=1s&ask=900ms&"
					    "connect=900ms&close=900ms",
					    NULL);
		dlock_lock *l = mutex(c, "x");
		dlock_hold *hold = NULL;

		warm_up(c);
		hostile_flood(h);
		hostile_say(h, "EVAL", begins[i], strlen(begins[i]));
		CHECK(dlock_acquire(l, 0, &hold) != DLOCK_OK);
		hostile_say(h, NULL, NULL, 0);
		/* The kernel's buffers take some on the way. */
		CHECK_INT(hostile_flooded(h), <, 24 << 20);
		end(c, l);
		hostile_free(h);
	}
	server_end(server);
}

/* ---- What is in the way -------------------------------------------------- */

Test(redis_errors, a_key_of_another_type_is_named)
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
	end(c, l);
	server_end(server);
}

Test(redis_errors, a_key_that_does_not_expire_is_named)
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
	end(c, l);
	server_end(server);
}

/* One that does expire is waited for. */
Test(redis_errors, a_foreign_key_that_expires_is_waited_for)
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
	end(c, l);
	server_end(server);
}

/* ---- Limits of the server ------------------------------------------------ */

Test(redis_errors, a_full_server_takes_no_locks_but_lets_them_go)
{
	struct lab_redis_options o = { .policy = "noeviction" };
	struct lab_server *server = server_start(&o);
	struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(server->port, "ttl=1500ms&ask=300ms",
				    &diary);
	dlock_lock *l = mutex(c, "x"), *m = mutex(c, "y");
	dlock_hold *h = take(l, 0), *none = NULL;
	uint64_t token = dlock_token(h), renewed;

	server_do(server, "CONFIG SET maxmemory 1");
	CHECK_RC(dlock_acquire(m, 0, &none), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "maxmemory");
	renewed = stats_of(c).renewed;
	EVENTUALLY(stats_of(c).renewed >= renewed + 2);
	CHECK_INT(diary.losses, ==, 0);
	give(h);
	server_do(server, "CONFIG SET maxmemory 0");
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
	give(take(m, patience_ms()));
	dlock_free(m);
	end(c, l);
	server_end(server);
}

/* As above, with somebody in line. */
Test(redis_errors, a_full_server_passes_locks_on)
{
	struct lab_redis_options o = { .policy = "noeviction" };
	struct lab_server *server = server_start(&o);
	dlock_client *c = client_of(server->port, "ttl=3s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(l, 0);
	struct taker t = { 0 };

	taker_start(&t, c, l, 2 * patience_ms(), 1);
	server_do(server, "CONFIG SET maxmemory 1");
	give(h);
	nap_ms(50);
	server_do(server, "CONFIG SET maxmemory 0");
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	let_go(&t);
	end(c, l);
	server_end(server);
}

Test(redis_errors, an_eviction_is_warned_of_and_found)
{
	struct lab_redis_options o = { .maxmemory = "6mb",
				       .policy = "volatile-ttl" };
	struct lab_server *server = server_start(&o);
	struct diary diary = DIARY_INIT;
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
	CHECK_INT(diary.lost_at - begin, <=, 1000 + 100 + slack_ms());
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	server_do(server, "FLUSHALL");
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
	end(c, l);
	server_end(server);
}

Test(redis_errors, a_server_without_room_for_clients_says_so)
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
	server_end(server);
}

Test(redis_errors, a_server_that_is_blocked_by_a_script_is_waited_for)
{
	struct lab_redis_options o = { .config = "lua-time-limit 50\n" };
	struct lab_server *server = server_start(&o);
	dlock_client *c = client_of(server->port, "ttl=30s&ask=100ms", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = NULL;
	struct lab_address to = lab_server_address(server);
	const char *loop = "EVAL \"while true do end\" 0\r\n";
	int fd = lab_connect(&to, now_ms() * 1000000 + 5000000000);

	warm_up(c);
	CHECK(fd >= 0);
	CHECK(lab_send(fd, loop, strlen(loop),
		       now_ms() * 1000000 + 5000000000) == 0);
	nap_ms(100);
	CHECK_RC(dlock_acquire(l, 200, &h), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "script");
	EVENTUALLY(lab_redis_do(server, NULL, 0, "SCRIPT KILL") == 0);
	give(take(l, patience_ms()));
	close(fd);
	end(c, l);
	server_end(server);
}
