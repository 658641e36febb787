/* SPDX-License-Identifier: Apache-2.0 */
/* Clients with different numbers of permits for a semaphore. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>

#include "lab/base/fail.h"

static void refused(dlock_lock *l, uint32_t theirs, uint32_t ours)
{
	char text[64];

	ask(l, 0, DLOCK_EINVAL);
	snprintf(text, sizeof(text), "semaphore 's' has %u permits, not %u",
		 (unsigned int)theirs, (unsigned int)ours);
	CHECK_TEXT(dlock_errmsg(), text);
}

/* Of five permits the last is held: three permits have no such slot. */
EITHER_WAY(memcached_permits, beyond_the_others_are_seen)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *five = semaphore(direct(&s, ""), "s", 5);
	dlock_lock *three = semaphore(direct(&s, ""), "s", 3);
	dlock_hold *h[5];

	for (int i = 0; i < 5; i++)
		h[i] = take(five);
	for (int i = 0; i < 4; i++)
		give(h[i]);
	refused(three, 5, 3);
	/* The refusal disturbs no client with the right number. */
	give(take(five));
	give(h[4]);
	/* A free semaphore has no number of permits. */
	h[0] = take(three);
	refused(five, 3, 5);
	give(h[0]);
	give(take(five));
}

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
		struct scene s = scene_new(protocol, NULL);
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
