/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs change dlock's keys, or put keys in the place. */
#include "support.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(redis_meddle, .timeout = 120);

#define KEY "dlock:{lnx}"
#define SHARED "dlock:{lnr}"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A late attempt, sent before the server lost all keys, makes another claim of
 * the same owner.  Another client may have had the lock in between. */
#define ANEW KEY " 35 9"
#define ANEW_SHARED                                                            \
	"EVAL \"local i = '" SHARED ":i' for _, w in ipairs(redis.call("       \
	"'HKEYS', i)) do if w ~= '.' then redis.call('HSET', i, w, "           \
	"'H 9000000000000000 me') end end\" 0"

enum { TTL_MS = 900 };

static struct lab_server *server;
static struct diary diary = DIARY_INIT;
static dlock_client *c, *other;

static void flush(void *s)
{
	server_do(s, "FLUSHALL");
}

static void set_up(const char *query)
{
	server = two_start(query, &diary, &c, &other);
	at_end(flush, server);
}

/* `command` takes a hold away.  The client learns of the loss in time, leaves a
 * foreign key alone, and the next token is larger. */
static void takes_away(const char *command, dlock_lock *l, dlock_hold *h)
{
	uint64_t token = dlock_token(h);
	int64_t begin;

	diary.losses = 0;
	begin = now_ms();
	server_do(server, "%s", command);
	EVENTUALLY(diary.losses == 1);
	if (diary.lost_ms - begin > TTL_MS / 3 + 100 + slack_ms())
		FAIL("%s: found after %lld ms", command,
		     (long long)(diary.lost_ms - begin));
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	EVENTUALLY(stats(c).pending_cleanups == 0);
	if (strstr(command, "junk")) {
		CHECK_TEXT(server_do(server, "GET " KEY), "junk");
		CHECK_INT(atoll(server_do(server, "PTTL " KEY)), >, 30000);
	}
	server_do(server, "FLUSHALL");
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
}

CASE(redis_meddle, with_a_mutex_is_found_out)
{
	static const char *const commands[] = {
		"DEL " KEY,
		"UNLINK " KEY,
		"SET " KEY " junk PX 60000",
		"GETEX " KEY " PX 1",
		"RENAME " KEY " elsewhere",
		"MOVE " KEY " 1",
		"SETRANGE " KEY " 2 0000",
		"SETRANGE " ANEW,
		"FLUSHDB",
		"SWAPDB 0 1",
	};
	dlock_lock *l;

	set_up("ttl=900ms");
	l = mutex(c, "x");
	for (size_t i = 0; i < COUNT(commands); i++)
		takes_away(commands[i], l, take(l, patience_ms()));
}

CASE(redis_meddle, with_a_reader_is_found_out)
{
	static const char *const commands[] = {
		"DEL " SHARED ":s",
		"DEL " SHARED ":i",
		"RENAME " SHARED ":s elsewhere",
		"ZREMRANGEBYRANK " SHARED ":s 0 -1",
		"PEXPIRE " SHARED ":i 1",
		ANEW_SHARED,
	};
	dlock_lock *r, *s;

	set_up("ttl=900ms");
	r = rwlock(c, "r");
	s = semaphore(c, "s", 2);
	for (size_t i = 0; i < COUNT(commands); i++)
		takes_away(commands[i], r, take_shared(r, patience_ms()));
	takes_away("FLUSHALL", s, take(s, patience_ms()));
}

/* The release tells a client of a loss not found yet; no clean-up is left. */
static void told_at_release(const char *command, dlock_hold *h)
{
	struct dlock_stats before = stats(c);
	struct dlock_stats after;
	int rc;

	server_do(server, "%s", command);
	rc = dlock_release(h);
	if (rc != DLOCK_ELOST)
		FAIL("%s: %s", command, dlock_errname(rc));
	CHECK_TEXT(dlock_errmsg(), "the store no longer had it");
	after = stats(c);
	CHECK_INT((int)(after.lost - before.lost), ==, 1);
	CHECK_INT((int)(after.released - before.released), ==, 0);
	CHECK_INT((int)after.pending_cleanups, ==, 0);
	CHECK_INT(diary.losses, ==, 0);
	server_do(server, "FLUSHALL");
}

CASE(redis_meddle, is_told_by_a_release_at_once)
{
	dlock_lock *l, *r, *s, *theirs;
	dlock_hold *h;

	set_up("ttl=60s");
	l = mutex(c, "x");
	r = rwlock(c, "r");
	s = semaphore(c, "s", 2);
	theirs = mutex(other, "x");
	told_at_release("DEL " KEY, take(l, patience_ms()));
	told_at_release("SET " KEY " junk", take(l, patience_ms()));
	told_at_release("FLUSHDB", take(l, patience_ms()));
	told_at_release("SETRANGE " ANEW, take(l, patience_ms()));
	told_at_release("FLUSHDB", take(r, patience_ms()));
	told_at_release("DEL " SHARED ":s", take_shared(r, patience_ms()));
	told_at_release(ANEW_SHARED, take_shared(r, patience_ms()));
	told_at_release("FLUSHDB", take(s, patience_ms()));
	/* By a break, before and after the next holder. */
	h = take(l, patience_ms());
	CHECK_OK(dlock_break(theirs, patience_ms()));
	told_at_release("PING", h);
	h = take(l, patience_ms());
	CHECK_OK(dlock_break(theirs, patience_ms()));
	give(take(theirs, patience_ms()));
	told_at_release("PING", h);
}

/* The claim of a late attempt does not become the reader's. */
CASE(redis_meddle, is_found_out_by_a_downgrade)
{
	dlock_lock *r;
	dlock_hold *h, *reader;

	set_up("ttl=60s");
	r = rwlock(c, "r");
	h = take(r, patience_ms());
	reader = take_shared(r, patience_ms());
	server_do(server, "SETRANGE " SHARED " 35 9");
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_RC(dlock_check(reader), DLOCK_ELOST);
	CHECK_RC(dlock_release(reader), DLOCK_ELOST);
}

/* ---- Keys in the way ----------------------------------------------------- */

/* Neither a try nor a wait is EBUSY. */
static void is_named_by(dlock_lock *l, const char *text)
{
	dlock_hold *none = NULL;

	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), text);
	CHECK_RC(dlock_acquire(l, patience_ms(), &none), DLOCK_EPROTO);
}

static void is_named(dlock_lock *l)
{
	is_named_by(l, "another type");
}

/* The keys beside the lock's own. */
CASE(redis_meddle, with_the_keys_beside_is_named)
{
	dlock_lock *l, *theirs, *r;
	dlock_hold *h;

	set_up("ttl=60s");
	l = mutex(c, "x");
	theirs = mutex(other, "x");
	r = rwlock(c, "r");
	server_do(server, "SET " KEY ":q junk");
	is_named(l);
	server_do(server, "DEL " KEY ":q");
	h = take(l, 0);
	server_do(server, "SADD " KEY ":i junk");
	is_named(theirs);
	CHECK_OK(dlock_check(h));
	server_do(server, "DEL " KEY ":i");
	give(h);
	server_do(server, "SET " SHARED ":s junk");
	is_named(r);
	server_do(server, "DEL " SHARED ":s");
	give(take(theirs, patience_ms()));
	give(take_shared(r, patience_ms()));
}

/* No junk in prefix:clock makes a token smaller. */
CASE(redis_meddle, with_the_clock_is_named)
{
	static const char *const commands[] = {
		"RPUSH dlock:clock junk",
		"SET dlock:clock junk",
		"SET dlock:clock 5",
		"SET dlock:clock 99999999999999999",
		"SET dlock:clock -1234567890",
		"SET dlock:clock \"\"",
	};
	uint64_t token = 0;
	dlock_lock *l;

	set_up("ttl=60s");
	l = mutex(c, "x");
	for (size_t i = 0; i < COUNT(commands); i++) {
		dlock_hold *h;

		server_do(server, "DEL dlock:clock " KEY);
		server_do(server, "%s", commands[i]);
		is_named_by(l, "the key \"clock\" of the prefix");
		server_do(server, "DEL dlock:clock");
		h = take(l, 0);
		CHECK(dlock_token(h) > token);
		token = dlock_token(h);
		give(h);
	}
}

/* The last token is exact, and no wrong token follows. */
CASE(redis_meddle, with_tokens_up_to_the_last)
{
	const uint64_t last = UINT64_C(9007199254740989);
	dlock_hold *h, *none = NULL;
	dlock_lock *l, *r;

	set_up("ttl=60s");
	l = mutex(c, "x");
	r = rwlock(c, "r");
	server_do(server, "SET " KEY " %" PRIu64 " PX 60000", last - 1);
	h = take(l, 0);
	CHECK(dlock_token(h) == last);
	give(h);
	for (int i = 0; i < 2; i++) {
		CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EEXHAUSTED);
		CHECK_TEXT(dlock_errmsg(), "2^53");
		CHECK_RC(dlock_acquire_shared(r, patience_ms(), &none),
			 DLOCK_EEXHAUSTED);
	}
}
