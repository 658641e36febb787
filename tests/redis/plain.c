/* SPDX-License-Identifier: Apache-2.0 */
/* key=plain beside clients of other libraries, and of another prefix. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(redis_plain, .timeout = 120);

#define PLAIN "key=plain&"

static struct lab_server *server;
static struct diary diary = DIARY_INIT;
static dlock_client *c;
static dlock_lock *l;

static void set_up(const char *query)
{
	server = server_start(NULL);
	c = client_of(server->port, query, &diary);
	warm_up(c);
	l = mutex(c, "x");
}

/* A client of another library takes the key "x" by SET NX PX, and deletes the
 * key as the documentation of SET does.  Returns whether that succeeded. */
static int foreign_take(const char *value, int px_ms)
{
	return *server_do(server, "SET x %s NX PX %d", value, px_ms) != '\0';
}

static int foreign_give(const char *value)
{
	return atoi(server_do(
		server,
		"EVAL \"if redis.call('get', KEYS[1]) == ARGV[1] then "
		"return redis.call('del', KEYS[1]) else return 0 end\" "
		"1 x %s",
		value));
}

CASE(redis_plain, excludes_clients_with_another_prefix)
{
	dlock_client *other;
	dlock_hold *h, *none = NULL;
	char key[64];

	set_up(PLAIN "ttl=3s");
	other = client_of(server->port, PLAIN "ttl=3s&prefix=other&label=me",
			  NULL);
	h = take(mutex(other, "x"));
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	CHECK_TEXT(dlock_errmsg(), "held by me");
	/* As after a step of the clock. */
	server_do(server, "PEXPIRE x 600000");
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	snprintf(key, sizeof(key), "%s", server_do(server, "PTTL x"));
	CHECK_INT(atoi(key), <=, 3000);
	CHECK_OK(dlock_check(h));
	give(h);
	give(take(l, 0));
}

/* ---- Reports and refusals ------------------------------------------------ */

static void note_label(const struct dlock_participant *p, void *arg)
{
	if (!p->waiting)
		snprintf(arg, 128, "%s/%d", p->label, p->token > 0);
}

CASE(redis_plain, foreign_holder_is_shown_and_broken)
{
	char label[128] = "";
	dlock_hold *h;

	set_up(PLAIN "ttl=30s");
	CHECK(foreign_take("theirs", 60000));
	CHECK_OK(dlock_inspect(l, note_label, label, patience_ms()));
	CHECK_TEXT(label, "another library");
	CHECK_TEXT(label, "/0");
	CHECK_OK(dlock_break(l, patience_ms()));
	CHECK(!foreign_give("theirs"));
	h = take(l, 0);
	label[0] = '\0';
	CHECK_OK(dlock_inspect(l, note_label, label, patience_ms()));
	CHECK_TEXT(label, "/1");
	CHECK_OK(dlock_break(l, patience_ms()));
	CHECK(foreign_take("theirs", 60000));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK(foreign_give("theirs"));
}

CASE(redis_plain, has_no_queue_readers_or_semaphores)
{
	uint32_t without = DLOCK_CAP_FAIR | DLOCK_CAP_WAKE | DLOCK_CAP_WANTED |
			   DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |
			   DLOCK_CAP_RESIZE | DLOCK_CAP_PERMITS |
			   DLOCK_CAP_REVOKE_PERMITS;
	dlock_lock *bad = NULL;
	dlock_hold *h = NULL;
	char uri[256];

	set_up(PLAIN "ttl=30s");
	CHECK_INT(dlock_caps(c) & without, ==, 0);
	CHECK(dlock_caps(c) & DLOCK_CAP_FENCE);
	CHECK_RC(dlock_rwlock_new(&bad, c, "x"), DLOCK_ENOTSUP);
	CHECK_TEXT(dlock_errmsg(), "key=plain");
	CHECK_RC(dlock_semaphore_new(&bad, c, "x", 2), DLOCK_ENOTSUP);
	CHECK_TEXT(dlock_errmsg(), "key=plain");
	snprintf(uri, sizeof(uri), "%s",
		 uri_of(server->port, PLAIN "order=fair"));
	opening_fails(uri, DLOCK_EINVAL, "order=fair");
	snprintf(uri, sizeof(uri), "%s", uri_of(server->port, "key=other"));
	opening_fails(uri, DLOCK_EINVAL, "dlock|plain");
	bad = mutex(c, "dlock:clock");
	CHECK_RC(dlock_acquire(bad, 0, &h), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "prefix=");
	CHECK_RC(dlock_break(bad, patience_ms()), DLOCK_EINVAL);
	server_do(server, "HSET x a b"); /* as Redisson does */
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), "another type");
	server_do(server, "DEL x");
	give(take(l, 0));
}
