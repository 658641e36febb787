/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that no Redis gives: neither believed, nor of any harm. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/hostile.h"

TestSuite(redis_nonsense, .timeout = 120);

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

CASE(redis_nonsense, to_an_acquire_is_no_lock)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h),
				    "ttl=1s&ask=60ms&connect=2s&close=200ms",
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
}

/* A server that was not sane is silent now, and may come to be sane again. */
CASE(redis_nonsense, of_the_past_is_not_the_reason)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h),
				    "ask=60ms&connect=2s&close=2s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *hold = NULL;
	int told = 0;

	warm_up(c);
	hostile_say(h, NULL, ":1\r\n", 4);
	EVENTUALLY(dlock_inspect(l, count_participant, &told, 60) ==
		   DLOCK_EPROTO);
	hostile_say(h, NULL, "", 0);
	/* The first may still meet the nonsense. */
	CHECK(dlock_acquire(l, 0, &hold) != DLOCK_OK);
	CHECK_RC(dlock_acquire(l, 0, &hold), DLOCK_EUNREACHABLE);
	hostile_say(h, NULL, NULL, 0);
	give(take(l, patience_ms()));
}

/* The client asks once more: what came may be older than the
 * request. */
CASE(redis_nonsense, of_a_single_connection_is_not_final)
{
	static const char *const whole[] = {
		"+OK\r\n", ":-1\r\n",      "*0\r\n",
		"$-1\r\n", "HTTP/1.1\r\n", "*1000000000\r\n"
	};
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h), NULL, NULL);
	dlock_lock *l = mutex(c, "x");

	warm_up(c);
	for (size_t i = 0; i < 6; i++) {
		dlock_hold *hold;

		hostile_say_once(h, "EVAL", whole[i], strlen(whole[i]));
		hold = take(l, 0);
		hostile_say_once(h, "EVAL", whole[i], strlen(whole[i]));
		give(hold);
	}
}

/* Nothing but a certain "gone" ends a hold before its lease. */
CASE(redis_nonsense, to_a_renewal_is_no_loss)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	static struct diary diary = DIARY_INIT;
	dlock_client *c = client_of(hostile_port(h),
				    "ttl=2s&ask=60ms&connect=2s&close=100ms",
				    &diary);
	dlock_lock *l = mutex(c, "x");

	warm_up(c);
	for (size_t i = 0; i < NONSENSE; i += 6) {
		dlock_hold *hold = take(l, patience_ms());
		uint64_t before = stats(c).renew_failed;

		hostile_say(h, "EVAL", nonsense[i].bytes, nonsense[i].len);
		EVENTUALLY(stats(c).renew_failed > before);
		hostile_say(h, NULL, NULL, 0);
		CHECK_INT(diary.losses, ==, 0);
		dlock_release(hold);
		EVENTUALLY(stats(c).pending_cleanups == 0);
	}
}

CASE(redis_nonsense, to_everything_else_is_an_error)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h),
				    "ttl=1s&ask=50ms&connect=2s&close=100ms",
				    NULL);
	dlock_lock *r = rwlock(c, "r");
	int told = 0;

	for (size_t i = 0; i < NONSENSE; i++) {
		dlock_client *none = NULL;
		dlock_hold *w = take(r, patience_ms());
		dlock_hold *both = take_shared(r, patience_ms());

		/* Inspect, list, break, downgrade, release, open: whatever they
		 * answer, they do so in time and the process lives. */
		hostile_say(h, NULL, nonsense[i].bytes, nonsense[i].len);
		dlock_inspect(r, count_participant, &told, 30);
		dlock_list(c, count_entry, &told, 30);
		dlock_break(r, 30);
		dlock_release(w);
		dlock_release(both);
		if (dlock_open(&none, uri_of(hostile_port(h), "connect=50ms"),
			       NULL) == DLOCK_OK)
			dlock_close(none);
		hostile_say(h, NULL, NULL, 0);
	}
}

CASE(redis_nonsense, in_the_channel_harms_nobody)
{
	struct lab_server *server = server_start(NULL);
	struct hostile *h = hostile_start(server);
	dlock_client *c = client_of(hostile_port(h), "ttl=1s", NULL);
	dlock_client *direct = client_of(server->port, "ttl=1s", NULL);
	dlock_lock *l = mutex(c, "x"), *dl = mutex(direct, "x");

	for (size_t i = 0; i < NONSENSE; i += 3) {
		dlock_hold *hold = take(dl, patience_ms());
		struct taker t = { 0 };

		taker_queue(&t, c, l, 2 * patience_ms());
		hostile_push(h, nonsense[i].bytes, nonsense[i].len);
		give(hold);
		EVENTUALLY(t.done);
		CHECK_OK(t.rc);
		let_go(&t);
	}
}

/* A server that sends without end is not read without end. */
CASE(redis_nonsense, a_flood_is_not_kept)
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
		end_now(h);
	}
}
