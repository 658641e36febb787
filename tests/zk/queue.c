/* SPDX-License-Identifier: Apache-2.0 */
/* The wait queue: the owners of nodes, and the nodes in the way. */
#include "zk/support.h"

#include <criterion/criterion.h>

TestSuite(zk_queue, .timeout = 120);

#define DIR "/dlock/lnlock"

/* Both nodes are of the same session: the reader asks the store, though the
 * same client has the lock. */
CASE(zk_queue, a_lost_create_reply_adopts_no_node_of_another_thread)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	zhandle_t *zh = bare(s->port);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=200ms");
	dlock_lock *held = mutex(c, "lock"), *wanted = rwlock(c, "lock");

	CHECK_OK(dlock_release(take(held, FOREVER)));
	/* The names of the two nodes decide which node is listed first. */
	for (uint64_t i = 1; i <= 10; i++) {
		dlock_hold *h = take(held, FOREVER);
		uint64_t before = stats(c).attempts;
		struct taker w = { .shared = 1 };

		/* The next request with "-s-" is the reader's create. */
		EVENTUALLY(watches(s) == 1);
		lab_proxy_swallow(p, "-s-", LAB_THEN_CLOSE);
		taker_start(&w, wanted, FOREVER);
		EVENTUALLY(lab_proxy_stat(p, LAB_SWALLOWED) == i);
		EVENTUALLY(stats(c).waiters == 1 || w.done);
		EVENTUALLY(children_are(zh, DIR, 2) || w.done);
		/* The attempt after the lost reply is over, too. */
		EVENTUALLY(stats(c).attempts >= before + 2 || w.done);
		ALL_ALONG(500, !w.done);
		CHECK_OK(dlock_check(h));
		CHECK_OK(dlock_release(h));
		CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
		EVENTUALLY(children_are(zh, DIR, 0));
	}
}

CASE(zk_queue, readers_wait_for_the_writer_and_no_reader)
{
	enum { READERS = 3 };
	struct lab_server *s = shared_server();
	dlock_client *a = client(s->port, "?ttl=30s");
	dlock_client *b = client(s->port, "?ttl=30s");
	dlock_lock *writer = rwlock(a, "lock"), *reader = rwlock(b, "lock");
	struct taker w[READERS] = { 0 };
	dlock_hold *h = take(writer, FOREVER);

	for (int i = 0; i < READERS; i++) {
		w[i] = (struct taker){ .shared = 1, .keep = 1 };
		taker_start(&w[i], reader, FOREVER);
		EVENTUALLY(stats(b).waiters == (uint32_t)i + 1);
	}
	CHECK_OK(dlock_release(h));
	for (int i = 0; i < READERS; i++)
		EVENTUALLY(w[i].done);
	for (int i = 0; i < READERS; i++) {
		CHECK_INT(waiter_join(&w[i]), ==, DLOCK_OK);
		CHECK_OK(dlock_check(w[i].hold));
	}
	end_now(b);
	for (int i = 0; i < READERS; i++)
		drop_hold(w[i].hold);
}
