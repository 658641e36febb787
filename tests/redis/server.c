/* SPDX-License-Identifier: Apache-2.0 */
/* A server that forgets, restarts, or is another one now. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(redis_server, .timeout = 120);

static struct lab_server *server;
static struct diary diary = DIARY_INIT;
static dlock_client *c;
static dlock_lock *l;

static void set_up(const struct lab_redis_options *o, const char *query)
{
	server = server_start(o);
	c = client_of(server->port, query, &diary);
	l = mutex(c, "x");
}

static void restart(bool keep_data)
{
	CHECK(lab_server_kill(server) == 0);
	if (lab_server_restart(server, keep_data) < 0)
		FAIL("%s", lab_errmsg());
}

/* It is lost, which was found out in time; and the next token is larger. */
static void lost_since(int64_t begin, int64_t within_ms, dlock_hold *h)
{
	uint64_t token = dlock_token(h);

	EVENTUALLY(diary.losses == 1);
	CHECK_INT(diary.lost_ms - begin, <=, within_ms + slack_ms());
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
}

/* A third of the lease, and the time in which it is found that the connection
 * is a dead one. */
CASE(redis_server, that_was_killed_and_is_empty)
{
	dlock_hold *h;
	int64_t begin;

	set_up(NULL, "ttl=3s");
	h = take(l, 0);
	restart(false);
	begin = now_ms();
	lost_since(begin, 1000 + 250, h);
}

CASE(redis_server, that_was_killed_and_remembers)
{
	struct lab_redis_options o = { .aof = true };
	dlock_hold *h, *none = NULL;
	dlock_client *other;
	dlock_lock *theirs;
	uint64_t token, renewed;

	set_up(&o, "ttl=12s");
	h = take(l, 0);
	token = dlock_token(h);
	restart(true);
	renewed = stats(c).renewed;
	other = client_of(server->port, NULL, NULL);
	theirs = mutex(other, "x");
	CHECK_RC(dlock_acquire(theirs, 0, &none), DLOCK_EBUSY);
	EVENTUALLY(stats(c).renewed > renewed);
	CHECK_OK(dlock_check(h));
	CHECK_INT(diary.losses, ==, 0);
	give(h);
	h = take(theirs, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
}

/* Waiters find the new one, and each gets its turn. */
CASE(redis_server, that_is_restarted_under_waiters)
{
	struct taker t[3] = { 0 };
	dlock_hold *h;

	set_up(NULL, "ttl=2s");
	h = take(elsewhere(server, "ttl=2s"), 0);
	for (int i = 0; i < 3; i++)
		taker_queue(&t[i], c, l, 3 * patience_ms());
	restart(false);
	for (int done = 0; done < 3;) {
		EVENTUALLY(t[0].done + t[1].done + t[2].done > done);
		for (int i = 0; i < 3; i++) {
			if (!t[i].done || !t[i].linger)
				continue;
			CHECK_OK(t[i].rc);
			let_go(&t[i]);
			done++;
		}
	}
	dlock_release(h);
}

CASE(redis_server, that_was_flushed)
{
	dlock_hold *h;
	int64_t begin;

	set_up(NULL, "ttl=3s");
	h = take(l, 0);
	begin = now_ms();
	server_do(server, "FLUSHALL");
	lost_since(begin, 1000 + 100, h);
}

CASE(redis_server, that_forgot_the_scripts_is_told_them)
{
	dlock_hold *h;

	set_up(NULL, "ttl=900ms");
	for (int i = 0; i < 3; i++) {
		server_do(server, "SCRIPT FLUSH");
		h = take(l, 0);
		server_do(server, "SCRIPT FLUSH");
		EVENTUALLY(stats(c).renewed > (uint64_t)i);
		server_do(server, "SCRIPT FLUSH");
		give(h);
	}
	CHECK_INT(stats(c).renew_failed, ==, 0);
}

/* ---- Another server ------------------------------------------------------ */

CASE(redis_server, that_is_a_replica_says_so)
{
	struct lab_redis_options o = { 0 };
	struct lab_server *replica;
	dlock_hold *h = NULL;
	dlock_client *r;
	dlock_lock *x;

	set_up(NULL, NULL);
	o.replica_of = server;
	replica = server_start(&o);
	if (lab_redis_wait_synced(replica, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	r = client_of(replica->port, "ask=500ms", &diary);
	CHECK(diary_says(&diary, "replica"));
	x = mutex(r, "x");
	CHECK_RC(dlock_acquire(x, 0, &h), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "replica");
	end(r, x);
	server_abandon(replica);
}

CASE(redis_server, that_is_a_replica_without_its_master_says_so)
{
	struct lab_redis_options o = { .config = "replica-serve-stale-data "
						 "no\n" };
	struct lab_server *replica;
	dlock_client *r = NULL;
	int rc;

	server = server_start(NULL);
	o.replica_of = server;
	replica = server_start(&o);
	if (lab_redis_wait_synced(replica, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	server_abandon(server);
	EVENTUALLY(strstr(server_do(replica, "INFO replication"),
			  "master_link_status:down"));
	rc = dlock_open(&r, uri_of(replica->port, "ask=500ms"), NULL);
	if (rc == DLOCK_OK) {
		dlock_lock *x = mutex(closed_at_end(r), "x");
		dlock_hold *h = NULL;

		rc = dlock_acquire(x, 0, &h);
		CHECK_RC(rc, DLOCK_EUNREACHABLE);
		CHECK_TEXT(dlock_errmsg(), "master");
		end(r, x);
	} else {
		CHECK_RC(rc, DLOCK_EUNREACHABLE);
		CHECK_TEXT(dlock_errmsg(), "master");
	}
	server_abandon(replica);
}
