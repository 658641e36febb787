/* SPDX-License-Identifier: Apache-2.0 */
/* Who was alone in the line takes the lock again without looking at it. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

TestSuite(zk_alone, .timeout = 120);

#define DIR "/dlock/mnlock"
#define PAIRS 20

static void pairs(dlock_lock *l, int n)
{
	for (int i = 0; i < n; i++)
		CHECK_OK(dlock_release(take(l, PATIENCE)));
}

static int64_t packets(struct lab_server *s)
{
	return lab_zk_number(s, "srvr", "Received");
}

Test(zk_alone, it_is_two_requests)
{
	struct lab_server *s = server(NULL);
	dlock_client *c = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock");
	int64_t before;

	pairs(l, 3);
	before = packets(s);
	pairs(l, PAIRS);
	/* Three would be with the list; some may be for a guard. */
	CHECK_INT(packets(s) - before, <, PAIRS * 5 / 2);
	dlock_close(c);
	lab_server_free(s);
}

/* Whether they hold it still, or have given it back. */
Test(zk_alone, who_came_between_is_seen)
{
	struct lab_server *s = server(NULL);
	dlock_client *a = client(s->port, "?ttl=30s&ask=5s");
	dlock_client *b = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *ours = mutex(a, "lock"), *theirs = mutex(b, "lock");
	dlock_hold *h, *none = NULL;

	for (int i = 0; i < 10; i++) {
		uint64_t token;

		pairs(ours, 3);
		pairs(theirs, i % 3);
		h = take(theirs, PATIENCE);
		token = dlock_token(h);
		CHECK_RC(dlock_acquire(ours, 0, &none), DLOCK_EBUSY);
		CHECK_OK(dlock_release(h));
		h = take(ours, PATIENCE);
		CHECK(dlock_token(h) > token);
		CHECK_OK(dlock_release(h));
	}
	dlock_close(a);
	dlock_close(b);
	lab_server_free(s);
}

/* In a directory that was made again the numbers begin again, so that the next
 * one can be the one that would come if nobody had been there. */
Test(zk_alone, a_number_from_another_directory_does_not_count)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *a = client(s->port, "?ttl=30s&ask=5s");
	dlock_client *b = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *ours = mutex(a, "lock"), *theirs = mutex(b, "lock");

	for (int n = 3; n < 8; n++) {
		dlock_hold *h, *none = NULL;
		int rc;

		pairs(ours, 3);
		rc = zoo_delete(zh, DIR, -1);
		CHECK(rc == ZOK || rc == ZNONODE);
		pairs(ours, n);
		rc = zoo_delete(zh, DIR, -1);
		CHECK(rc == ZOK || rc == ZNONODE);
		/* Ours was n - 1, this is too. */
		pairs(theirs, n - 1);
		h = take(theirs, PATIENCE);
		CHECK_RC(dlock_acquire(ours, 0, &none), DLOCK_EBUSY);
		CHECK_OK(dlock_release(h));
	}
	dlock_close(a);
	dlock_close(b);
	zookeeper_close(zh);
	lab_server_free(s);
}

/* The server behind a new connection may have lost what was seen before. */
Test(zk_alone, what_was_seen_does_not_outlive_the_connection)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock"), *other = mutex(c, "other");
	int64_t before;

	pairs(l, 3);
	for (int i = 0; i < 3; i++) {
		lab_proxy_reset(p);
		pairs(other, 1);
		before = packets(s);
		pairs(l, 1);
		/* The last is what asks for the number. */
		CHECK_INT(packets(s) - before, >=, 3 + 1);
		pairs(l, 2);
	}
	dlock_close(c);
	lab_proxy_free(p);
	lab_server_free(s);
}

/* ---- A session that stands before its hub has the handle ----------------- */

static atomic_int hub_is_late, answers;

static void answered(int rc, const char *value, int len,
		     const struct Stat *stat, const void *data)
{
	(void)value;
	(void)len;
	(void)stat;
	(void)data;
	atomic_fetch_add(&answers, rc == ZOK);
}

/* The library's call comes here first, made between that of the handle and its
 * use.  An answer comes behind the word that the session stands. */
int zoo_set_servers_resolution_delay(zhandle_t *zh, int ms)
{
	int (*f)(zhandle_t * zh, int ms) = NULL;
	void *symbol = dlsym(RTLD_NEXT, "zoo_set_servers_resolution_delay");
	int rc;

	memcpy(&f, &symbol, sizeof(f));
	rc = f(zh, ms);
	if (atomic_load(&hub_is_late)) {
		EVENTUALLY(zoo_state(zh) == ZOO_CONNECTED_STATE);
		CHECK_INT(zoo_aget(zh, "/", 0, answered, NULL), ==, ZOK);
		EVENTUALLY(answers == 1);
	}
	return rc;
}

/* ... and the next number is the one that would come there. */
Test(zk_alone, what_was_seen_does_not_outlive_the_session)
{
	struct lab_server *s = server(NULL);
	dlock_client *a = client(s->port, "?ttl=4s&ask=1s"), *b;
	dlock_lock *ours = mutex(a, "lock"), *theirs;
	dlock_hold *h, *none = NULL;

	pairs(ours, PAIRS);
	hub_is_late = 1;
	CHECK_INT(lab_server_restart(s, false), ==, 0);
	pairs(mutex(a, "other"), 1);
	hub_is_late = 0;
	CHECK_INT(answers, ==, 1);
	b = client(s->port, "?ttl=30s&ask=5s");
	theirs = mutex(b, "lock");
	pairs(theirs, PAIRS - 1);
	h = take(theirs, PATIENCE);
	CHECK_RC(dlock_acquire(ours, 0, &none), DLOCK_EBUSY);
	CHECK_OK(dlock_release(h));
	dlock_close(a);
	dlock_close(b);
	lab_server_free(s);
}
