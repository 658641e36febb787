/* SPDX-License-Identifier: Apache-2.0 */
/* The number of permits, and changes of the number. */
#include "conform/cases.h"
#include "conform/worker.h"

static void check_permit(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	CHECK_INT(p->permits, ==, 1);
	CHECK_INT(p->limit, ==, 3);
}

void case_semaphore_count(struct conform *t)
{
	dlock_lock *others;
	dlock_hold *a, *b;
	struct worker *p;

	use_semaphore(t, 3);
	p = join(t, OTHER_CLIENT);
	has_free(t->lock, 3, 0);
	a = take(t->lock);
	b = take(t->lock);
	has_free(t->lock, 3, 2);
	/* Holders set the number; a later handle's number has no effect. */
	others = any_lock(t, another_client(t, NULL, NULL), SEMAPHORE, 7,
			  t->name);
	has_free(others, 3, 2);
	ASK_OK(p, ACQUIRE, at_once_ms());
	has_free(t->lock, 3, 3);
	CHECK_OK(dlock_inspect(t->lock, check_permit, NULL, patience_ms()));
	give(a);
	give(b);
	ASK_OK(p, RELEASE, 0);
	EVENTUALLY(held_permits(t->lock) == 0);
	has_free(others, 7, 0);
}

/* ---- Another number of them ---------------------------------------------- */

/* A larger number wakes as many waiters as there are new permits. */
void case_semaphore_grows(struct conform *t)
{
	struct worker *p[3];
	dlock_hold *h;

	use_semaphore(t, 1);
	h = take(t->lock);
	for (int i = 0; i < 3; i++) {
		p[i] = join(t, OTHER_CLIENT);
		tell(p[i], ACQUIRE, -1);
		await_waiters(t, (unsigned int)i + 1);
	}
	set_limit(t->lock, 3);
	if (t->caps & DLOCK_CAP_FAIR) {
		HEAR_OK(p[0]);
		HEAR_OK(p[1]);
		ALL_ALONG(10, quiet(p[2]));
		set_limit(handle(t, another_client(t, NULL, NULL)), 4);
		HEAR_OK(p[2]);
	} else {
		await_waiters(t, 1);
		set_limit(handle(t, another_client(t, NULL, NULL)), 4);
		for (int i = 0; i < 3; i++)
			HEAR_OK(p[i]);
	}
	refused(t->lock);
	give(h);
	for (int i = 0; i < 3; i++)
		ASK_OK(p[i], RELEASE, 0);
	is_free(t->lock);
}

/* Holders keep their permits when the number becomes smaller. */
void case_semaphore_shrinks(struct conform *t)
{
	struct worker *p = NULL;
	dlock_hold *h[4];

	use_semaphore(t, 4);
	for (int i = 0; i < 4; i++)
		h[i] = take(t->lock);
	p = join(t, OTHER_CLIENT);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	set_limit(t->lock, 2);
	for (int i = 0; i < 4; i++)
		CHECK_OK(dlock_check(h[i]));
	for (int i = 0; i < 2; i++) {
		give(h[i]);
		ALL_ALONG(10, quiet(p));
	}
	give(h[2]);
	HEAR_OK(p);
	refused(t->lock);
	CHECK_OK(dlock_check(h[3]));
	give(h[3]);
	is_free(t->lock);
	ASK_OK(p, RELEASE, 0);
}

/* The set number replaces the handles' numbers until the semaphore is
 * unused. */
void case_semaphore_set_for_all(struct conform *t)
{
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_lock *three, *seven;
	dlock_hold *a, *b;

	use_semaphore(t, 1);
	a = take(t->lock);
	three = any_lock(t, c, SEMAPHORE, 3, t->name);
	seven = any_lock(t, another_client(t, NULL, NULL), SEMAPHORE, 7,
			 t->name);
	set_limit(three, 2);
	has_free(seven, 2, 1);
	b = take(seven);
	refused(t->lock);
	refused(three);
	give(a);
	a = take(three);
	has_free(t->lock, 2, 2);
	give(b);
	/* A single holder keeps the semaphore in use. */
	b = take(t->lock);
	refused(seven);
	give(a);
	give(b);
	EVENTUALLY(held_permits(t->lock) == 0);
	has_free(t->lock, 1, 0);
	a = take(three);
	CHECK_RC(dlock_acquire(seven, 0, &b), DLOCK_EINVAL);
	give(a);
	EVENTUALLY(held_permits(t->lock) == 0);
	CHECK_RC(dlock_semaphore_resize(t->lock, 1, patience_ms()),
		 DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), t->name);
}
