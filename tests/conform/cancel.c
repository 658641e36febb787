/* SPDX-License-Identifier: Apache-2.0 */
/* dlock_cancel() ends the waits of a handle and has no other effect. */
#include "conform/cases.h"
#include "conform/worker.h"

/* The wait ends at once, not at the next poll. */
static void cancelled(dlock_lock *lock, struct worker *p)
{
	int64_t begun = now_ms();

	dlock_cancel(lock);
	CHECK_INT(hear(p).rc, ==, DLOCK_ECANCELED);
	CHECK_INT(now_ms() - begun, <=, 4 * slack_ms());
}

void case_cancel_wait(struct conform *t)
{
	dlock_lock *other;

	use_mutex(t);
	other = handle(t, another_client(t, NULL, NULL));
	for (int i = 0; i < 2; i++) {
		struct worker *p = join(t, SAME_HANDLE);
		struct worker *q = join(t, SAME_HANDLE);
		dlock_hold *h = take(other);

		tell(p, ACQUIRE, i ? -1 : patience_ms());
		tell(q, ACQUIRE, -1);
		await_waiters(t, 2);
		cancelled(t->lock, p);
		CHECK_INT(hear(q).rc, ==, DLOCK_ECANCELED);
		CHECK_INT(stats_of(t->client).waiters, ==, 0);
		CHECK_OK(dlock_check(h));
		/* A stale entry in the wait queue would be granted now. */
		give(h);
		is_free(other);
		ASK_OK(p, ACQUIRE, at_once_ms());
		ASK_OK(p, RELEASE, 0);
		leave(t, p);
		leave(t, q);
	}
}

void case_cancel_one_handle(struct conform *t)
{
	struct worker *same, *twin, *other;
	dlock_hold *h;

	use_mutex(t);
	same = join(t, SAME_HANDLE);
	twin = join(t, OTHER_HANDLE);
	other = join(t, OTHER_CLIENT);
	h = take(t->lock);
	tell(same, ACQUIRE, -1);
	tell(twin, WORK, 0);
	tell(other, WORK, 0);
	await_waiters(t, 3);
	cancelled(t->lock, same);
	ALL_ALONG(20, quiet(twin) && quiet(other));
	give(h);
	HEAR_OK(twin);
	HEAR_OK(other);
}

/* A try is no wait, and two cancels end a single wait. */
void case_cancel_sticky(struct conform *t)
{
	struct worker *p;
	dlock_hold *h = NULL;

	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	CHECK_OK(dlock_lock_sticky_cancel(t->lock));
	ASK_OK(p, ACQUIRE, at_once_ms());
	dlock_cancel(t->lock);
	dlock_cancel(t->lock);
	refused(t->lock);
	CHECK_RC(dlock_acquire(t->lock, -1, &h), DLOCK_ECANCELED);
	CHECK_TEXT(dlock_errmsg(), "before it began");
	CHECK(!h);
	CHECK_RC(dlock_acquire(t->lock, 30, &h), DLOCK_EBUSY);
	ASK_OK(p, RELEASE, 0);
	dlock_cancel(t->lock);
	CHECK_RC(dlock_acquire(t->lock, -1, &h), DLOCK_ECANCELED);
	CHECK_OK(ask_for(t->lock, 0, patience_ms(), &h));
	give(h);
}

/* The cancel ends all waits under way, and no later wait. */
void case_cancel_sticky_ends_all(struct conform *t)
{
	struct worker *p, *q;
	dlock_hold *h;

	use_mutex(t);
	CHECK_OK(dlock_lock_sticky_cancel(t->lock));
	p = join(t, SAME_HANDLE);
	q = join(t, SAME_HANDLE);
	h = take(handle(t, another_client(t, NULL, NULL)));
	tell(p, ACQUIRE, -1);
	tell(q, ACQUIRE, -1);
	await_waiters(t, 2);
	cancelled(t->lock, p);
	CHECK_INT(hear(q).rc, ==, DLOCK_ECANCELED);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	give(h);
	HEAR_OK(p);
}
