/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs change dlock's keys.  tests/sim/cases shows each script where
 * keys were changed, or are of another type. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(redis_meddle, .timeout = 120);

#define KEY "dlock:{lnx}"
#define SHARED "dlock:{lnr}"

/* A late attempt, sent before the server lost all keys, makes another claim of
 * the same owner.  Another client may have had the lock in between. */
#define ANEW KEY " 35 9"
#define ANEW_SHARED                                                            \
	"EVAL \"local i = '" SHARED ":i' for _, w in ipairs(redis.call("       \
	"'HKEYS', i)) do if w ~= '.' then redis.call('HSET', i, w, "           \
	"'H 9000000000000000 me') end end\" 0"

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
