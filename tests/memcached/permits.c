/* SPDX-License-Identifier: Apache-2.0 */
/* Clients with different numbers of permits for a semaphore. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>

struct taking {
	dlock_lock *lock;
	int rc;
	char text[256];
};

static void *take_it(void *arg)
{
	struct taking *t = arg;
	dlock_hold *h = NULL;

	t->rc = dlock_acquire(t->lock, 0, &h);
	snprintf(t->text, sizeof(t->text), "%s", dlock_errmsg());
	dlock_release(h);
	return NULL;
}

/* Both clients read the slots before a slot is taken. */
EITHER_WAY(memcached_permits, that_come_in_meanwhile_are_seen)
{
	for (int left = 0; left < 2; left++) {
		struct taking t = {
			.lock = semaphore(by_proxy(&s, "ask=20s"), "s", 5),
		};
		dlock_lock *three = semaphore(direct(&s, ""), "s", 3);
		dlock_hold *first, *second;
		pthread_t thread;

		give(take(mutex(direct(&s, ""), "y")));
		lab_proxy_hold(s.proxy, "add ");
		CHECK(!pthread_create(&thread, NULL, take_it, &t));
		CHECK_INT(lab_proxy_wait(s.proxy, LAB_HELD, 1, patience_ms()),
			  ==, 0);
		first = take(three);
		second = take(three);
		if (left)
			give(first);
		lab_proxy_deliver(s.proxy);
		pthread_join(thread, NULL);
		CHECK_RC(t.rc, DLOCK_EINVAL);
		CHECK_TEXT(t.text, "semaphore 's' has 3 permits, not 5");
		if (!left)
			give(first);
		give(second);
	}
}
