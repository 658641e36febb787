/* SPDX-License-Identifier: Apache-2.0 */
/* dlock_lock_held(). */
#include "conform/cases.h"
#include "conform/worker.h"

void case_held_by_this_thread(struct conform *t)
{
	struct worker *p;
	dlock_lock *twin, *free_one, *both;
	dlock_hold *h;

	use_mutex(t);
	p = join(t, SAME_HANDLE);
	twin = handle(t, t->client);
	free_one = unbound(t, t->client);
	both = multi(t, &t->lock, 1);
	CHECK_INT(dlock_lock_held(t->lock), ==, 0);
	ASK_OK(p, ACQUIRE, at_once_ms());
	CHECK_INT(dlock_lock_held(t->lock), ==, 0);
	ASK_OK(p, RELEASE, 0);
	h = take(t->lock);
	CHECK(take(twin) == h);
	CHECK_INT(dlock_lock_held(t->lock), ==, 2);
	CHECK_INT(dlock_lock_held(twin), ==, 2);
	CHECK_INT(dlock_lock_held(both), ==, 2);
	CHECK_INT(dlock_lock_held(free_one), ==, 0);
	give(h);
	CHECK_INT(dlock_lock_held(t->lock), ==, 1);
	give(h);
	CHECK_INT(dlock_lock_held(t->lock), ==, 0);
	CHECK_OK(ask_for(free_one, 0, at_once_ms(), &h));
	CHECK_INT(dlock_lock_held(free_one), ==, 1);
	CHECK_INT(dlock_lock_held(t->lock), ==, 0);
	give(h);
	CHECK_RC(dlock_lock_held(NULL), DLOCK_EINVAL);
}

void case_held_on_both_sides(struct conform *t)
{
	dlock_hold *w, *r;
	dlock_lock *m;

	use_rwlock(t);
	m = any_lock(t, t->client, MUTEX, 0, t->name);
	w = take(t->lock);
	r = take_shared(t->lock);
	CHECK_INT(dlock_lock_held(t->lock), ==, 2);
	CHECK_INT(dlock_lock_held(m), ==, 1);
	give(w);
	CHECK_INT(dlock_lock_held(t->lock), ==, 1);
	CHECK_INT(dlock_lock_held(m), ==, 0);
	give(r);
	CHECK_INT(dlock_lock_held(t->lock), ==, 0);
}

void case_held_by_the_client(struct conform *t)
{
	struct worker *p, *q;

	use_semaphore(t, 3);
	p = join(t, SAME_HANDLE);
	q = join(t, OTHER_CLIENT);
	ASK_OK(p, ACQUIRE, at_once_ms());
	ASK_OK(p, ACQUIRE, at_once_ms());
	ASK_OK(q, ACQUIRE, at_once_ms());
	CHECK_INT(dlock_lock_held(t->lock), ==, 2);
	ASK_OK(p, RELEASE, 0);
	CHECK_INT(dlock_lock_held(t->lock), ==, 1);
}

void case_held_several_permits(struct conform *t)
{
	dlock_hold *one, *three;

	use_semaphore(t, 5);
	three = take_several(t->lock, 3);
	CHECK_INT(dlock_lock_held(t->lock), ==, 3);
	one = take(t->lock);
	CHECK_INT(dlock_lock_held(t->lock), ==, 4);
	give(three);
	CHECK_INT(dlock_lock_held(t->lock), ==, 1);
	give(one);
}

void case_held_was_lost(struct conform *t)
{
	dlock_hold *h;
	dlock_lock *l;

	use_mutex(t);
	l = handle(t, another_client(t, "max_hold=150ms", NULL));
	h = take(l);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(dlock_lock_held(l), ==, 0);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}
