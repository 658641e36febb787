/* SPDX-License-Identifier: Apache-2.0 */
/* The wait queue: the nodes in the way. */
#include "zk/support.h"

#include <criterion/criterion.h>

TestSuite(zk_queue, .timeout = 120);

SHARED(zk_queue, readers_wait_for_the_writer_and_no_reader)
{
	enum { READERS = 3 };
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
