/* SPDX-License-Identifier: Apache-2.0 */
/* The line: whose node is whose, and which one is in the way. */
#include "zk/support.h"

#include <criterion/criterion.h>

TestSuite(zk_line, .timeout = 120);

#define DIR "/dlock/mnlock"

/* Two handles of one client, and so of one session. */
Test(zk_line, a_lost_create_reply_adopts_no_node_of_another_thread)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	zhandle_t *zh = bare(s->port);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=200ms");
	dlock_lock *held = mutex(c, "lock"), *wanted = mutex(c, "lock");

	CHECK_OK(dlock_release(take(held, FOREVER)));
	/* Which of the two nodes is listed first, their names decide. */
	for (uint64_t i = 1; i <= 10; i++) {
		dlock_hold *h = take(held, FOREVER);
		uint64_t before = stats(c).attempts;
		struct waiter w;

		/* No other request names a node after that. */
		EVENTUALLY(watches(s) == 1);
		lab_proxy_swallow(p, "-x-", LAB_THEN_CLOSE);
		waiter_start(&w, wanted, FOREVER);
		EVENTUALLY(lab_proxy_stat(p, LAB_SWALLOWED) == i);
		EVENTUALLY(stats(c).waiters == 1 || w.over);
		EVENTUALLY(children_are(zh, DIR, 2) || w.over);
		/* The one that followed the lost reply is over, too. */
		EVENTUALLY(stats(c).attempts >= before + 2 || w.over);
		ALL_ALONG(500, !w.over);
		CHECK_OK(dlock_check(h));
		CHECK_OK(dlock_release(h));
		CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
		EVENTUALLY(children_are(zh, DIR, 0));
	}
	dlock_close(c);
	lab_proxy_free(p);
	zookeeper_close(zh);
	lab_server_free(s);
}

static void *read_and_wait(void *arg)
{
	struct waiter *w = arg;

	w->rc = dlock_acquire_shared(w->lock, w->timeout_ms, &w->hold);
	w->over = 1;
	return NULL;
}

/* Readers wait for the writer ahead of all of them, not for each other. */
Test(zk_line, readers_wait_for_the_writer_and_no_reader)
{
	enum { READERS = 3 };
	struct lab_server *s = server(NULL);
	dlock_client *a = client(s->port, "?ttl=30s");
	dlock_client *b = client(s->port, "?ttl=30s");
	dlock_lock *writer = rwlock(a, "lock"), *reader = rwlock(b, "lock");
	struct waiter w[READERS];
	dlock_hold *h = take(writer, FOREVER);

	for (int i = 0; i < READERS; i++) {
		w[i] = (struct waiter){ .lock = reader, .timeout_ms = FOREVER };
		CHECK_INT(pthread_create(&w[i].thread, NULL, read_and_wait,
					 &w[i]),
			  ==, 0);
		EVENTUALLY(stats(b).waiters == (uint32_t)i + 1);
	}
	CHECK_OK(dlock_release(h));
	for (int i = 0; i < READERS; i++)
		EVENTUALLY(w[i].over);
	for (int i = 0; i < READERS; i++) {
		CHECK_INT(waiter_join(&w[i]), ==, DLOCK_OK);
		CHECK_OK(dlock_check(w[i].hold));
	}
	dlock_close(a);
	dlock_close(b);
	lab_server_free(s);
}
