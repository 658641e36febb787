/* SPDX-License-Identifier: Apache-2.0 */
/* Permits, a few and very many. */
#include "support.h"

#include <criterion/criterion.h>

CASE(file_semaphore, everybody_names_the_same_number_of_permits)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *three = semaphore(c, "x", 3), *five = semaphore(d, "x", 5);
	dlock_hold *h = take(three, 0), *h5[5], *none;
	int i;

	CHECK_RC(dlock_acquire(five, 0, &none), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "semaphore 'x' has 3 permits, not 5");
	CHECK_OK(dlock_release(h));
	for (i = 0; i < 5; i++)
		h5[i] = take(five, 0);
	CHECK_RC(dlock_acquire(five, 0, &none), DLOCK_EBUSY);
	CHECK_RC(dlock_acquire(three, 0, &none), DLOCK_EINVAL);
	for (i = 0; i < 5; i++)
		CHECK_OK(dlock_release(h5[i]));
	CHECK_OK(dlock_release(take(three, 0)));
}

static int64_t a_hundred(dlock_lock *l)
{
	int64_t begin = now_ms();
	dlock_hold *h[100];
	int i;

	for (i = 0; i < 100; i++)
		h[i] = take(l, 0);
	for (i = 0; i < 100; i++)
		CHECK_OK(dlock_release(h[i]));
	return now_ms() - begin;
}

/* More than have a record, and some of them in a row. */
CASE(file_semaphore, counts_permits_without_a_record)
{
	struct dlock_permits n = { .size = sizeof(n) };
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 100), *m = semaphore(d, "x", 3);
	dlock_hold *h[90];

	for (int i = 0; i < 90; i++)
		h[i] = take(l, FOREVER);
	CHECK_OK(dlock_semaphore_permits(m, &n, patience_ms()));
	CHECK_INT(n.limit, ==, 100);
	CHECK_INT(n.held, ==, 90);
	CHECK_INT(n.free, ==, 10);
	for (int i = 0; i < 90; i += 3)
		CHECK_OK(dlock_release(h[i]));
	CHECK_OK(dlock_semaphore_permits(m, &n, patience_ms()));
	CHECK_INT(n.held, ==, 60);
}

CASE(file_semaphore, two_thousand_million_permits)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", INT32_MAX);

	CHECK_WITHIN(a_hundred(l), 1000 * slowness());
}

/* More permits than one attempt tries: the last free one is found all the
 * same. */
CASE(file_semaphore, the_last_of_many_permits)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 600), *m = semaphore(d, "x", 600);
	dlock_hold *h[600];
	int i;

	for (i = 0; i < 600; i++)
		h[i] = take(l, 5000 * slowness());
	CHECK_RC(dlock_acquire(m, 20, &h[0]), DLOCK_EBUSY);
	CHECK_OK(dlock_release(h[77]));
	h[77] = take(m, 5000 * slowness());
	for (i = 0; i < 600; i++)
		CHECK_OK(dlock_release(h[i]));
}
