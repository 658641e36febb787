/* SPDX-License-Identifier: Apache-2.0 */
/* Few permits, and very many. */
#include "support.h"

#include <criterion/criterion.h>

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

/* Some permits have no record, and some of these are neighbours. */
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

static dlock_lock *breaker;
static dlock_hold *broken;

static void break_and_take(void)
{
	before_pwrite = NULL;
	CHECK_OK(dlock_break(breaker, patience_ms()));
	(void)dlock_release(broken); /* may not have heard of the break */
	broken = take(breaker, patience_ms());
}

CASE(file_semaphore, a_break_beside_a_resize_keeps_the_number)
{
	struct dlock_permits n = { .size = sizeof(n) };
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 2);

	breaker = semaphore(store_open(s->dir, NULL), "x", 2);
	broken = take(l, FOREVER);
	before_pwrite = break_and_take;
	CHECK_OK(dlock_semaphore_resize(l, 5, patience_ms()));
	CHECK(!before_pwrite);
	CHECK_OK(dlock_semaphore_permits(breaker, &n, patience_ms()));
	CHECK_INT(n.limit, ==, 5);
	CHECK_INT(n.held, ==, 1);
	give(broken);
}

static int64_t breaking_until;

static void break_and_take_again(void)
{
	break_and_take();
	if (now_ms() < breaking_until)
		before_pwrite = break_and_take_again;
}

CASE(file_semaphore, breaks_without_end_keep_no_resize)
{
	struct scene *s = scene();
	dlock_lock *l = semaphore(store_open(s->dir, NULL), "x", 2);

	breaker = semaphore(store_open(s->dir, NULL), "x", 2);
	broken = take(l, FOREVER);
	breaking_until = now_ms() + patience_ms();
	before_pwrite = break_and_take_again;
	CHECK_RC(dlock_semaphore_resize(l, 5, 50), DLOCK_EUNREACHABLE);
	before_pwrite = NULL;
	CHECK_TEXT(dlock_errmsg(), "again and again");
	give(broken);
}

CASE(file_semaphore, two_thousand_million_permits)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", INT32_MAX);

	CHECK_WITHIN(a_hundred(l), 1000 * slowness());
}
