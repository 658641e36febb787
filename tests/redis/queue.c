/* SPDX-License-Identifier: Apache-2.0 */
/* The wait queue: the order, and the cost of dead waiters. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(redis_queue, .timeout = 120);

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *c, *dying, *last;
static dlock_lock *l, *dl, *ll;

static void set_up(const char *query)
{
	server = three_start(query, &proxy, &c, &dying, &last);
	l = mutex(c, "x");
	dl = mutex(dying, "x");
	ll = mutex(last, "x");
}

static int count(const char *command)
{
	return atoi(server_do(server, "%s", command));
}

/* The holder died, and the key has expired. */
CASE(redis_queue, is_not_jumped_by_a_later_client)
{
	struct taker t = { 0 };
	dlock_hold *h, *none = NULL;

	set_up("ttl=30s");
	h = take(l, 0);
	taker_queue(&t, dying, dl, FOREVER);
	server_do(server, "DEL dlock:{lnx}");
	CHECK_RC(dlock_acquire(ll, 0, &none), DLOCK_EBUSY);
	/* This attempt has told the first waiter. */
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	let_go(&t);
	dlock_release(h);
}

/* The writer is overtaken once: a waiter that is woken leaves the queue. */
CASE(redis_queue, is_kept_by_a_writer_that_readers_overtook)
{
	struct taker w = { 0 };
	dlock_hold *h, *none = NULL;
	dlock_lock *readers;

	set_up("ttl=10s&order=any");
	readers = rwlock(c, "x");
	h = take(l, 0);
	taker_queue(&w, dying, dl, FOREVER);
	cut_off(proxy);
	give(h);
	h = take_shared(readers, 0);
	lab_proxy_heal(proxy);
	EVENTUALLY(count("ZCARD dlock:{lnx}:q") == 1);
	cut_off(proxy);
	give(h);
	CHECK_RC(dlock_acquire_shared(readers, 0, &none), DLOCK_EBUSY);
	lab_proxy_heal(proxy);
	EVENTUALLY(w.done);
	CHECK_OK(w.rc);
	let_go(&w);
}

/* The waiter with order=any that was woken may come or not.  The other clients
 * have no error. */
CASE(redis_queue, may_be_kept_by_some_and_not_by_others)
{
	dlock_client *any;
	dlock_lock *mine, *woken, *theirs;
	dlock_hold *h;
	struct taker t = { 0 };

	set_up("ttl=30s");
	any = client_of(lab_proxy_port(proxy), "ttl=30s&order=any", NULL);
	mine = semaphore(c, "s", 1);
	woken = semaphore(any, "s", 1);
	theirs = semaphore(last, "s", 1);
	h = take(mine, 0);
	taker_queue(&t, any, woken, FOREVER);
	cut_off(proxy);
	server_do(server, "DEL dlock:{sns}:s"); /* as if the holder had died */
	give(take(theirs, patience_ms()));
	dlock_release(h);
	lab_proxy_heal(proxy);
	dlock_cancel(woken);
	let_go(&t);
}

/* The quickest waiter wins, and no waiter is forgotten. */
CASE(redis_queue, is_none_where_order_is_any)
{
	struct taker t[6];
	dlock_hold *h;

	set_up("ttl=3s&order=any");
	CHECK(!(dlock_caps(c) & DLOCK_CAP_FAIR));
	memset(t, 0, sizeof(t));
	h = take(l, 0);
	for (int i = 0; i < 6; i++)
		taker_queue(&t[i], i % 2 ? dying : last, i % 2 ? dl : ll,
			    FOREVER);
	give(h);
	for (int done = 0; done < 6; done++) {
		int i = 0;

		EVENTUALLY((i = (i + 1) % 6, t[i].done && t[i].linger));
		CHECK_OK(t[i].rc);
		let_go(&t[i]);
	}
}
