/* SPDX-License-Identifier: Apache-2.0 */
/* The waiters of one client, which believe what one of them was told. */
#include "support.h"

#include <pthread.h>

struct waiter {
	dlock_lock *lock;
	int64_t timeout_ms;
	int rc;
	pthread_t thread;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	dlock_hold *h = NULL;

	w->rc = dlock_acquire(w->lock, w->timeout_ms, &h);
	if (w->rc == DLOCK_OK)
		give(h);
	return NULL;
}

/* It came free long before the deadline, whatever another was told before. */
EITHER_WAY(memcached_belief, does_not_stand_for_the_last_look)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = direct(&s, "ttl=60s&poll=10s");
	struct waiter w = { .lock = mutex(c, "x"), .timeout_ms = 3000 };
	struct dlock_stats stats = { .size = sizeof(stats) };
	dlock_hold *theirs = take(mutex(direct(&s, ""), "x"));

	CHECK_INT(pthread_create(&w.thread, NULL, wait_for_it, &w), ==, 0);
	EVENTUALLY(dlock_get_stats(c, &stats) == 0 && stats.waiters == 1);
	ask(w.lock, 0, DLOCK_EBUSY);
	give(theirs);
	pthread_join(w.thread, NULL);
	CHECK_RC(w.rc, DLOCK_OK);
	scene_end(&s);
}
