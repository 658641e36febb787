/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that mean different numbers of permits of one semaphore. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>

#include "lab/base/fail.h"

static dlock_lock *permits(dlock_client *c, uint32_t n)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_semaphore_new(&l, c, "s", n));
	return l;
}

static void refused(dlock_lock *l, uint32_t theirs, uint32_t ours)
{
	char text[64];

	ask(l, 0, DLOCK_EINVAL);
	snprintf(text, sizeof(text), "semaphore 's' has %u permits, not %u",
		 (unsigned int)theirs, (unsigned int)ours);
	CHECK_TEXT(dlock_errmsg(), text);
}

/* Of five permits the last is held, which is none of three. */
EITHER_WAY(memcached_permits, beyond_the_others_are_seen)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *five = permits(direct(&s, ""), 5);
	dlock_lock *three = permits(direct(&s, ""), 3);
	dlock_hold *h[5];

	for (int i = 0; i < 5; i++)
		h[i] = take(five);
	for (int i = 0; i < 4; i++)
		give(h[i]);
	refused(three, 5, 3);
	/* That did not disturb those who are right. */
	give(take(five));
	give(h[4]);
	/* A free semaphore has no number of permits. */
	h[0] = take(three);
	refused(five, 3, 5);
	give(h[0]);
	give(take(five));
	dlock_lock_free(five);
	dlock_lock_free(three);
	scene_end(&s);
}

EITHER_WAY(memcached_permits, mark_outlives_the_holder)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *l = permits(direct(&s, "ttl=300s"), 5);
	dlock_lock *quick = permits(direct(&s, "ttl=3s"), 5);

	give(take(l));
	CHECK_INT(mark_left_s(&s, "sns.m"), >=, 900);
	give(take(quick)); /* does not need as much, and takes none away */
	CHECK_INT(mark_left_s(&s, "sns.m"), >=, 890);
	mark_ends_in(&s, "sns.m", 200);
	give(take(quick));
	CHECK_INT(mark_left_s(&s, "sns.m"), >=, 590);
	CHECK_INT(lab_memcached_do(s.server, NULL, 0,
				   with_key(&s, "delete %s", "sns.m")),
		  ==, 0);
	give(take(quick));
	CHECK_INT(mark_left_s(&s, "sns.m"), >=, 590);
	dlock_lock_free(l);
	dlock_lock_free(quick);
	scene_end(&s);
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

/* Both get the slots before either has taken one. */
EITHER_WAY(memcached_permits, that_come_in_meanwhile_are_seen)
{
	for (int left = 0; left < 2; left++) {
		struct scene s = scene_new(protocol, NULL);
		struct taking t = {
			.lock = permits(by_proxy(&s, "ask=20s"), 5),
		};
		dlock_lock *three = permits(direct(&s, ""), 3);
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
		dlock_lock_free(t.lock);
		dlock_lock_free(three);
		scene_end(&s);
	}
}

/* All handles have the same number: no client is refused for another client's
 * haste.  Each thread asks once, so the case ends if the machine stands still
 * for `ask`. */
EITHER_WAY(memcached_permits, of_the_same_number_never_quarrel)
{
	enum { THREADS = 6, TURNS = 50 };
	struct scene s = scene_new(protocol, NULL);
	struct taking t[THREADS];
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		t[i].lock = permits(direct(&s, "ask=20s"), 70);
	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = 0; i < THREADS; i++)
			CHECK(!pthread_create(&thread[i], NULL, take_it,
					      &t[i]));
		for (int i = 0; i < THREADS; i++) {
			pthread_join(thread[i], NULL);
			if (t[i].rc != DLOCK_OK)
				FAIL("%s", t[i].text);
		}
	}
	for (int i = 0; i < THREADS; i++)
		dlock_lock_free(t[i].lock);
	scene_end(&s);
}
