/* SPDX-License-Identifier: Apache-2.0 */
/* A semaphore has a fixed number of permits. */
#include <stdatomic.h>

#include "conform/cases.h"
#include "conform/worker.h"

void case_semaphore_permits(struct conform *t)
{
	struct worker *p[4];
	int n = 0;

	use_semaphore(t, 4);
	for (int i = 0; i < WAYS; i++) {
		p[n] = join(t, (enum way)i);
		if (p[n])
			ASK_OK(p[n++], ACQUIRE, at_once_ms());
	}
	for (; n < 4; n++) {
		p[n] = join(t, OTHER_CLIENT);
		ASK_OK(p[n], ACQUIRE, at_once_ms());
	}
	refused(t->lock);
	for (int i = 0; i < 4; i++) {
		ASK_OK(p[i], RELEASE, 0);
		is_free(t->lock);
		ASK_OK(p[i], ACQUIRE, patience_ms());
		refused(t->lock);
	}
}

void case_semaphore_wait(struct conform *t)
{
	use_semaphore(t, 2);
	EACH_WAY(t, p)
	{
		dlock_hold *a = take(t->lock);
		dlock_hold *b = take(t->lock);

		CHECK(a != b);
		tell(p, ACQUIRE, -1);
		await_waiters(t, 1);
		ALL_ALONG(10, quiet(p));
		give(way_ % 2 ? a : b);
		HEAR_OK(p);
		refused(t->lock);
		give(way_ % 2 ? b : a);
		is_free(t->lock);
	}
}

/* All clients must agree on the number of permits. */
void case_semaphore_mismatch(struct conform *t)
{
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_lock *l = NULL, *other;
	dlock_hold *h, *none = NULL;

	use_semaphore(t, 3);
	CHECK_RC(dlock_semaphore_new(&l, t->client, t->name, 0), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), t->name);
	CHECK_RC(dlock_semaphore_new(&l, t->client, t->name, 2), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), t->name);
	CHECK(!l);
	h = take(t->lock);
	other = any_lock(t, c, SEMAPHORE, 2, t->name);
	CHECK_RC(acquire(other, 0, &none), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), t->name);
	CHECK_RC(acquire(other, -1, &none), DLOCK_EINVAL);
	CHECK(!none);
	CHECK_OK(dlock_check(h));
	give(h);
	CHECK_RC(acquire_shared(t->lock, 0, &none), DLOCK_EINVAL);
}

/* ---- Several at once ----------------------------------------------------- */

static void refused_several(dlock_lock *l, uint32_t permits)
{
	dlock_hold *h = NULL;

	CHECK_RC(acquire_several(l, permits, 0, &h), DLOCK_EBUSY);
	CHECK(!h);
}

/* A thread that waits for several permits. */
struct several {
	pthread_t thread;
	dlock_lock *lock;
	uint32_t permits;
	atomic_int over;
	int rc;
	dlock_hold *hold;
};

static void *wait_for_several(void *arg)
{
	struct several *s = arg;

	s->rc = acquire_several(s->lock, s->permits, -1, &s->hold);
	s->over = 1;
	return NULL;
}

static void several_begin(struct conform *t, struct several *s,
			  uint32_t permits, unsigned int waiters)
{
	s->lock = handle(t, another_client(t, NULL, NULL));
	s->permits = permits;
	CHECK_INT(pthread_create(&s->thread, NULL, wait_for_several, s), ==, 0);
	await_waiters(t, waiters);
}

static void several_granted(struct several *s)
{
	pthread_join(s->thread, NULL);
	CHECK_OK(s->rc);
}

void case_semaphore_several(struct conform *t)
{
	dlock_lock *other;
	dlock_hold *three, *one, *all;

	use_semaphore(t, 5);
	other = handle(t, another_client(t, NULL, NULL));
	three = take_several(t->lock, 3);
	refused_several(other, 3);
	refused_several(t->lock, 5);
	one = take(other);
	refused_several(t->lock, 2);
	give(one);
	one = take_several(other, 2);
	refused(t->lock);
	if (t->caps & DLOCK_CAP_INSPECT)
		has_free(other, 5, 5);
	CHECK_OK(dlock_check(three));
	give(three);
	refused_several(other, 4);
	if (t->caps & DLOCK_CAP_INSPECT)
		EVENTUALLY(held_permits(other) == 2);
	three = take_several(other, 3);
	give(three);
	give(one);
	all = take_several(t->lock, 5);
	refused(other);
	give(all);
	is_free(t->lock);
	one = take_several(t->lock, 1);
	refused_several(other, 5);
	give(one);
}

void case_semaphore_several_wait(struct conform *t)
{
	struct several s = { 0 };
	dlock_hold *h[3];

	use_semaphore(t, 3);
	for (int i = 0; i < 3; i++)
		h[i] = take(t->lock);
	several_begin(t, &s, 2, 1);
	give(h[0]);
	ALL_ALONG(10, !s.over);
	give(h[2]);
	several_granted(&s);
	refused(t->lock);
	give(h[1]);
	is_free(t->lock);
	refused_several(t->lock, 2);
	give(s.hold);
}

/* Waiters for few permits do not overtake a waiter for many. */
void case_semaphore_several_in_turn(struct conform *t)
{
	struct several s = { 0 };
	struct worker *p;
	dlock_hold *a, *b;

	use_semaphore(t, 3);
	a = take(t->lock);
	b = take(t->lock);
	several_begin(t, &s, 3, 1);
	p = join(t, OTHER_CLIENT);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 2);
	give(a);
	refused(t->lock);
	ALL_ALONG(10, !s.over && quiet(p));
	give(b);
	several_granted(&s);
	ALL_ALONG(10, quiet(p));
	give(s.hold);
	HEAR_OK(p);
	ASK_OK(p, RELEASE, 0);
}

/* A waiter that gives up blocks no other waiter. */
void case_semaphore_several_give_up(struct conform *t)
{
	struct several s = { 0 };
	struct worker *p;
	dlock_hold *a;

	use_semaphore(t, 3);
	a = take_several(t->lock, 2);
	several_begin(t, &s, 2, 1);
	p = join(t, OTHER_CLIENT);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 2);
	ALL_ALONG(10, quiet(p));
	dlock_cancel(s.lock);
	pthread_join(s.thread, NULL);
	CHECK_RC(s.rc, DLOCK_ECANCELED);
	HEAR_OK(p);
	refused(t->lock);
	ASK_OK(p, RELEASE, 0);
	give(a);
	give(take_several(t->lock, 3));
}

/* A waiter for more permits than there are now makes no other waiter wait. */
void case_semaphore_several_too_many(struct conform *t)
{
	struct several s = { 0 };
	struct worker *p;
	dlock_hold *a, *none = NULL;

	use_semaphore(t, 3);
	a = take_several(t->lock, 2);
	several_begin(t, &s, 3, 1);
	p = join(t, OTHER_CLIENT);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 2);
	set_limit(t->lock, 2);
	pthread_join(s.thread, NULL);
	CHECK_RC(s.rc, DLOCK_EINVAL);
	ALL_ALONG(10, quiet(p));
	CHECK_RC(acquire_several(t->lock, 3, -1, &none), DLOCK_EINVAL);
	CHECK_TEXT(face_errmsg(), t->name);
	set_limit(t->lock, 3);
	HEAR_OK(p);
	ASK_OK(p, RELEASE, 0);
	give(a);
}

void case_semaphore_many(struct conform *t)
{
	enum { PERMITS = 64 };
	dlock_lock *other;
	dlock_hold *h[PERMITS];

	use_semaphore(t, PERMITS);
	other = handle(t, another_client(t, NULL, NULL));
	for (int i = 0; i < PERMITS; i++)
		h[i] = take(i % 2 ? other : t->lock);
	refused(t->lock);
	refused(other);
	give(h[PERMITS / 2]);
	h[PERMITS / 2] = take(other);
	refused(t->lock);
	for (int i = 0; i < PERMITS; i++) {
		CHECK_OK(dlock_check(h[i]));
		give(h[i]);
	}
	is_free(t->lock);
}
