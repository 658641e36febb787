/* SPDX-License-Identifier: Apache-2.0 */
/* A server that restarts, or became a replica. */
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

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

/* The first request to the new run has all holds verified: a renewal would find
 * the loss after ten seconds. */
CASE(redis_server, that_was_started_anew_is_a_fail_over)
{
	dlock_hold *h;
	int64_t begin;

	set_up(NULL, "ttl=30s&ask=1s&connect=5s");
	h = take(l, 0);
	CHECK(lab_server_kill(server) == 0);
	CHECK(lab_server_restart(server, false) == 0);
	begin = now_ms();
	give(take(mutex(c, "y"), patience_ms()));
	EVENTUALLY(diary.losses == 1);
	CHECK_INT(diary.lost_ms - begin, <=, 5000);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

/* ---- Replicas ------------------------------------------------------------ */

CASE(redis_server, that_is_a_replica_says_so)
{
	struct lab_server *replica;
	dlock_hold *h = NULL;
	dlock_client *r;
	dlock_lock *x;

	set_up(NULL, NULL);
	replica = replica_start(server, NULL);
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
	struct lab_server *replica;
	dlock_client *r = NULL;
	dlock_hold *h = NULL;
	int rc;

	server = server_start(NULL);
	replica = replica_start(server, "replica-serve-stale-data no\n");
	server_abandon(server);
	EVENTUALLY(strstr(server_do(replica, "INFO replication"),
			  "master_link_status:down"));
	rc = dlock_open(&r, uri_of(replica->port, "ask=500ms"), NULL);
	if (rc == DLOCK_OK)
		rc = dlock_acquire(mutex(r, "x"), 0, &h);
	CHECK_RC(rc, DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "master");
	dlock_close(r);
	server_abandon(replica);
}
