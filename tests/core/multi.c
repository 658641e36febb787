/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-locks: all or none, in one order, under one deadline. */
#include "core/support.h"

#include <poll.h>

static struct fake *one, *two;
static dlock_client *a, *b;

static void set_up(void)
{
	stall_watch();
	OK(fake_register());
	one = fake_store("one");
	two = fake_store("two");
	a = open_store("fake://one?ttl=5s&ask=400ms", NULL);
	b = open_store("fake://two?ttl=3s", NULL);
}

static void tear_down(void)
{
	close_store(a);
	close_store(b);
	cr_assert_eq(fake_waiting(one) + fake_waiting(two), 0);
}

TestSuite(multi, .init = set_up, .fini = tear_down, .timeout = 60);

/* x and z from one store, y from another, and a lock of the three. */
struct three {
	dlock_lock *x, *y, *z, *all;
};

static struct three three_new(void)
{
	struct three t = { mutex(a, "x"), mutex(b, "y"), mutex(a, "z"), NULL };
	dlock_lock *members[] = { t.z, t.x, t.y };

	OK(dlock_multi_new(&t.all, members, 3));
	return t;
}

static void three_free(struct three *t)
{
	dlock_free(t->x);
	dlock_free(t->y);
	dlock_free(t->z);
	dlock_free(t->all);
}

Test(multi, holds_all_and_knows_its_members)
{
	struct three t = three_new();
	dlock_hold *h;

	/* Its handles are its own. */
	dlock_free(t.z);
	t.z = NULL;
	h = take(t.all);
	cr_assert_eq(fake_held(one), 2);
	cr_assert_eq(fake_held(two), 1);
	cr_assert_eq(dlock_token(h), 0);
	for (size_t i = 0; i < 3; i++)
		cr_assert_gt(dlock_token(dlock_member(h, i)), 0);
	cr_assert_null(dlock_member(h, 3));
	cr_assert_null(dlock_member(dlock_member(h, 0), 0));
	OK(dlock_check(h));
	cr_assert_leq(dlock_remaining_ms(h), 3000);
	cr_assert_gt(dlock_remaining_ms(h) + stalled_ms(), 1000);
	OK(dlock_release(h));
	cr_assert_eq(fake_held(one) + fake_held(two), 0);
	three_free(&t);
}

Test(multi, takes_its_members_in_one_order)
{
	struct three t = three_new();
	dlock_lock *members[] = { t.y, t.z, t.x };
	dlock_lock *other = NULL;
	dlk_time x[2], y[2], z[2];

	OK(dlock_multi_new(&other, members, 3));
	OK(dlock_release(take(t.all)));
	OK(dlock_release(take(other)));
	for (size_t i = 0; i < 2; i++) {
		x[i] = fake_nth(one, FAKE_ATTEMPT, 2 * i).begin;
		z[i] = fake_nth(one, FAKE_ATTEMPT, 2 * i + 1).begin;
		y[i] = fake_nth(two, FAKE_ATTEMPT, i).begin;
		cr_assert_lt(x[i], y[i]);
		cr_assert_lt(y[i], z[i]);
	}
	dlock_free(other);
	three_free(&t);
}

Test(multi, holds_none_when_one_is_busy)
{
	struct three t = three_new();
	dlock_hold *h = NULL;
	dlk_time began;

	fake_occupy(one, DLK_MUTEX, "z", 0);
	cr_assert_eq(dlock_acquire(t.all, 0, &h), DLOCK_EBUSY);
	began = dlk_now();
	cr_assert_eq(dlock_acquire(t.all, 150, &h), DLOCK_EBUSY);
	cr_assert_lt(dlk_now(), late(began + 450 * DLKI_MS));
	cr_assert_null(h);
	cr_assert_eq(fake_held(one), 1);
	cr_assert_eq(fake_held(two), 0);
	cr_assert_eq(stats(a).holds + stats(b).holds, 0);
	three_free(&t);
}

/* Nor does a store that has gone silent keep the caller, who may be told of the
 * other's answer; it learns of the release later. */
Test(multi, that_is_given_up_does_not_wait_for_its_releases)
{
	struct three t = three_new();
	dlock_hold *h = NULL;
	dlk_time began = dlk_now();

	fake_occupy(two, DLK_MUTEX, "y", 0);
	fake_script(one, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT });
	cr_assert_eq(dlock_acquire(t.all, 100, &h), DLOCK_EBUSY);
	cr_assert_lt(dlk_now(), late(began + 1200 * DLKI_MS));
	EVENTUALLY(stats(a).remnants == 0);
	cr_assert_eq(fake_held(one), 0);
	three_free(&t);
}

Test(multi, has_the_time_of_one_release_for_all)
{
	dlock_client *c = open_store("fake://three?ttl=5s&close=300ms", NULL);
	dlock_lock *m[] = { mutex(c, "a"), mutex(c, "b"), mutex(c, "c") };
	dlock_lock *all = NULL;
	dlock_hold *h;
	dlk_time began;

	OK(dlock_multi_new(&all, m, 3));
	h = take(all);
	fake_script(fake_store("three"), FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT, .times = 3 });
	began = dlk_now();
	REFUSED(dlock_release(h), DLOCK_EUNREACHABLE, "no answer");
	cr_assert_lt(dlk_now(), late(began + 550 * DLKI_MS));
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_held(fake_store("three")), 0);
	for (int i = 0; i < 3; i++)
		dlock_free(m[i]);
	dlock_free(all);
	close_store(c);
}

/* Three members that are busy each for a part of the time. */
Test(multi, has_one_deadline_for_all)
{
	struct three t = three_new();
	dlock_hold *h = NULL;
	dlk_time began = dlk_now();

	fake_occupy(one, DLK_MUTEX, "x", 100);
	fake_occupy(two, DLK_MUTEX, "y", 200);
	fake_occupy(one, DLK_MUTEX, "z", 2000);
	cr_assert_eq(dlock_acquire(t.all, 300, &h), DLOCK_EBUSY);
	cr_assert_geq(dlk_now(), began + 300 * DLKI_MS);
	cr_assert_lt(dlk_now(), late(began + 600 * DLKI_MS));
	three_free(&t);
}

Test(multi, that_is_cancelled_holds_none)
{
	struct three t = three_new();
	struct taker taker = { 0 };

	fake_occupy(one, DLK_MUTEX, "z", 0);
	taker_start(&taker, t.all, -1);
	EVENTUALLY(stats(a).waiters == 1);
	/* The members' own handles are others. */
	dlock_cancel(t.z);
	dlock_cancel(t.x);
	nap_ms(20);
	cr_assert_eq(atomic_load(&taker.done), 0);
	dlock_cancel(t.all);
	cr_assert_eq(taker_join(&taker), DLOCK_ECANCELED);
	cr_assert_eq(fake_held(two), 0);
	three_free(&t);
}

Test(multi, is_lost_with_its_first_member)
{
	struct three t = three_new();
	dlock_hold *h = take(t.all);
	int fd = dlock_hold_fd(h);

	cr_assert_geq(fd, 0);
	cr_assert_eq(dlock_hold_fd(h), fd);
	cr_assert_eq(poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0), 0);
	fake_lose(two, fake_last(two, FAKE_ATTEMPT).id);
	cr_assert_eq(poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 5000), 1);
	cr_assert_eq(dlock_check(h), DLOCK_ELOST);
	cr_assert_eq(dlock_remaining_ms(h), 0);
	REFUSED(dlock_release(h), DLOCK_ELOST, "mutex 'y' was lost");
	cr_assert_eq(fake_held(one), 0);
	three_free(&t);
}

/* x is lost while z is waited for; the caller still has time. */
Test(multi, begins_again_when_a_member_is_lost_meanwhile)
{
	struct three t = three_new();
	struct taker taker = { .linger = 1 };

	fake_occupy(one, DLK_MUTEX, "z", 0);
	taker_start(&taker, t.all, 10000);
	EVENTUALLY(stats(a).waiters == 1);
	fake_lose(one, fake_nth(one, FAKE_ATTEMPT, 0).id);
	fake_vacate(one, DLK_MUTEX, "z");
	EVENTUALLY(atomic_load(&taker.done));
	OK(dlock_check(taker.hold));
	REFUSED(dlock_release(taker.hold), DLOCK_EINVAL, "another thread");
	atomic_store(&taker.linger, 0);
	OK(taker_join(&taker));
	OK(taker.release_rc);
	cr_assert_geq(stats(a).granted, 4);
	three_free(&t);
}

static void *lose_y_at_z(void *arg)
{
	while (fake_count(one, FAKE_ATTEMPT) < 2)
		nap_ms(1);
	fake_lose(two, fake_last(two, FAKE_ATTEMPT).id);
	fake_open_gate(one);
	return arg;
}

Test(multi, that_may_ask_once_only_answers_that_a_member_was_lost)
{
	struct three t = three_new();
	dlock_hold *h = NULL;
	pthread_t thread;

	/* y, which is ahead of z, is lost while z is asked for. */
	fake_script(one, FAKE_ATTEMPT, (struct fake_step){ 0 });
	fake_script(one, FAKE_ATTEMPT, (struct fake_step){ .gate = 1 });
	cr_assert_eq(pthread_create(&thread, NULL, lose_y_at_z, NULL), 0);
	REFUSED(dlock_acquire(t.all, 0, &h), DLOCK_ELOST,
		"while the others were waited for");
	pthread_join(thread, NULL);
	EVENTUALLY(stats(a).remnants + stats(b).remnants == 0);
	cr_assert_eq(stats(a).holds + stats(b).holds, 0);
	three_free(&t);
}

Test(multi, counts_members_that_are_held_already)
{
	struct three t = three_new();
	dlock_hold *x = take(t.x), *first = take(t.all), *second = take(t.all);

	cr_assert_neq(first, second);
	cr_assert_eq(dlock_member(first, 1), x);
	OK(dlock_release(first));
	OK(dlock_check(x));
	OK(dlock_release(second));
	OK(dlock_check(x));
	OK(dlock_release(x));
	cr_assert_eq(fake_held(one), 0);
	three_free(&t);
}

Test(multi, tells_the_gravest_failure_of_its_release)
{
	struct three t = three_new();
	dlock_hold *h = take(t.all);

	fake_script(one, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE });
	fake_lose(two, fake_last(two, FAKE_ATTEMPT).id);
	REFUSED(dlock_release(h), DLOCK_ELOST, "'y'");
	h = take(t.all);
	fake_script(one, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE });
	REFUSED(dlock_release(h), DLOCK_EUNREACHABLE, "no answer");
	EVENTUALLY(stats(a).remnants == 0);
	h = take(t.all);
	fake_script(one, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE, .times = 2 });
	REFUSED(dlock_release(h), DLOCK_EUNREACHABLE, "no answer");
	EVENTUALLY(stats(a).remnants == 0);
	three_free(&t);
}

Test(multi, gives_up_at_the_deadline_when_members_are_lost_again_and_again)
{
	struct three t = three_new();
	dlock_hold *h = NULL;
	dlk_time began = dlk_now();
	int rc;

	fake_script(one, FAKE_ATTEMPT,
		    (struct fake_step){ .delay_ms = 250,
					.times = FAKE_ALWAYS });
	fake_script(two, FAKE_ATTEMPT,
		    (struct fake_step){ .lease_ms = 200,
					.times = FAKE_ALWAYS });
	fake_script(two, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	rc = dlock_acquire(t.all, 800, &h);
	/* Granted later than at half the lease it is none. */
	if (stalled_ms() < 100)
		cr_assert_eq(rc, DLOCK_ELOST, "%s", dlock_errmsg());
	cr_assert_lt(rc, 0);
	cr_assert_lt(dlk_now(), late(began + 1700 * DLKI_MS));
	fake_clear(one);
	fake_clear(two);
	EVENTUALLY(stats(a).remnants + stats(b).remnants == 0);
	cr_assert_eq(stats(a).holds + stats(b).holds, 0);
	three_free(&t);
}

/* ---- Closing one of its clients ----------------------------------------- */

struct waiting_at_b {
	struct three t;
	dlock_client *c; /* of x and z; the other one is b */
	struct taker taker;
};

/* It has x, and waits for y. */
static void wait_at_b(struct waiting_at_b *w, int64_t timeout_ms)
{
	dlock_lock *members[3];

	w->c = open_store("fake://one?ttl=5s", NULL);
	w->t = (struct three){ mutex(w->c, "x"), mutex(b, "y"),
			       mutex(w->c, "z"), NULL };
	members[0] = w->t.x;
	members[1] = w->t.y;
	members[2] = w->t.z;
	OK(dlock_multi_new(&w->t.all, members, 3));
	fake_occupy(two, DLK_MUTEX, "y", 0);
	taker_start(&w->taker, w->t.all, timeout_ms);
	EVENTUALLY(stats(b).waiters == 1);
	cr_assert_eq(stats(w->c).holds, 1);
}

static void ended(struct waiting_at_b *w)
{
	EVENTUALLY(atomic_load(&w->taker.done));
	cr_assert_eq(taker_join(&w->taker), DLOCK_ECANCELED);
	cr_assert_eq(fake_held(one), 0);
	cr_assert_eq(fake_waiting(two), 0);
	cr_assert_eq(stats(b).holds, 0);
	three_free(&w->t);
}

Test(multi, ends_its_wait_at_one_client_when_another_is_closed)
{
	struct waiting_at_b w = { 0 };

	wait_at_b(&w, -1);
	close_within(w.c, 2000);
	ended(&w);
}

/* z's client is only asked when y is had: the wait is over before that. */
Test(multi, ends_its_wait_when_the_client_of_a_later_member_is_closed)
{
	dlock_client *late = open_store("fake://zzz?ttl=5s", NULL);
	dlock_lock *members[2] = { mutex(b, "y"), mutex(late, "z") };
	dlock_lock *all = NULL;
	struct taker taker = { 0 };

	OK(dlock_multi_new(&all, members, 2));
	fake_occupy(two, DLK_MUTEX, "y", 0);
	taker_start(&taker, all, -1);
	EVENTUALLY(stats(b).waiters == 1);
	close_within(late, 2000);
	EVENTUALLY(atomic_load(&taker.done));
	cr_assert_eq(taker_join(&taker), DLOCK_ECANCELED);
	cr_assert_eq(fake_waiting(two), 0);
	dlock_free(members[0]);
	dlock_free(members[1]);
	dlock_free(all);
}

/* It never parks, and has all the time in the world. */
Test(multi, can_be_cancelled_when_members_are_lost_again_and_again)
{
	struct three t = three_new();
	struct taker taker = { 0 };

	fake_script(one, FAKE_ATTEMPT,
		    (struct fake_step){ .delay_ms = 150,
					.times = FAKE_ALWAYS });
	fake_script(two, FAKE_ATTEMPT,
		    (struct fake_step){ .lease_ms = 100,
					.times = FAKE_ALWAYS });
	fake_script(two, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	taker_start(&taker, t.all, -1);
	EVENTUALLY(fake_count(one, FAKE_ATTEMPT) >= 4);
	dlock_cancel(t.all);
	EVENTUALLY(atomic_load(&taker.done));
	cr_assert_eq(taker_join(&taker), DLOCK_ECANCELED);
	fake_clear(one);
	fake_clear(two);
	EVENTUALLY(stats(a).remnants + stats(b).remnants == 0);
	cr_assert_eq(stats(a).holds + stats(b).holds, 0);
	three_free(&t);
}

Test(multi, lasts_as_long_as_the_member_that_lasts_least)
{
	dlock_client *c = open_store("fake://three", NULL);
	dlock_lock *m[3] = { mutex(c, "a"), mutex(c, "b"), mutex(a, "c") };
	dlock_lock *lasting = NULL, *leased = NULL;
	dlock_hold *h;

	OK(dlock_multi_new(&lasting, m, 2));
	OK(dlock_multi_new(&leased, m, 3));
	h = take(lasting);
	cr_assert_eq(dlock_remaining_ms(h), -1);
	OK(dlock_release(h));
	h = take(leased);
	cr_assert_gt(dlock_remaining_ms(h), 0);
	cr_assert_leq(dlock_remaining_ms(h), 5000);
	OK(dlock_release(h));
	for (int i = 0; i < 3; i++)
		dlock_free(m[i]);
	dlock_free(lasting);
	dlock_free(leased);
	close_store(c);
}

Test(multi, of_bad_members_is_refused)
{
	struct three t = three_new();
	dlock_lock *m[3] = { t.x, NULL, t.z };
	dlock_lock *out = NULL, *twin = mutex(a, "x"), *sem = NULL;
	dlock_hold *h = NULL;

	REFUSED(dlock_multi_new(NULL, m, 1), DLOCK_EINVAL, "out");
	REFUSED(dlock_multi_new(&out, NULL, 1), DLOCK_EINVAL, "at least one");
	REFUSED(dlock_multi_new(&out, m, 0), DLOCK_EINVAL, "at least one");
	REFUSED(dlock_multi_new(&out, m, 65537), DLOCK_EINVAL, "65536");
	REFUSED(dlock_multi_new(&out, m, 3), DLOCK_EINVAL, "member 1 is NULL");
	m[1] = t.all;
	REFUSED(dlock_multi_new(&out, m, 3), DLOCK_EINVAL,
		"member 1 is a multi-lock");
	m[1] = t.x;
	REFUSED(dlock_multi_new(&out, m, 3), DLOCK_EINVAL,
		"mutex 'x' is a member twice");
	m[1] = twin;
	REFUSED(dlock_multi_new(&out, m, 3), DLOCK_EINVAL, "twice");
	cr_assert_null(out);
	REFUSED(dlock_acquire_shared(t.all, 0, &h), DLOCK_EINVAL, "read side");
	REFUSED(dlock_break(t.all, 0), DLOCK_EINVAL, "members");
	/* A read-write lock and a semaphore of one name are others. */
	OK(dlock_semaphore_new(&sem, a, "x", 2));
	m[1] = sem;
	OK(dlock_multi_new(&out, m, 3));
	OK(dlock_release(take(out)));
	dlock_free(out);
	dlock_free(sem);
	dlock_free(twin);
	three_free(&t);
}

/* Two clients of one store: the same lock all the same. */
Test(multi, of_one_lock_by_way_of_two_clients_is_refused)
{
	dlock_client *again = open_store("fake://one?ttl=5s&ask=400ms", NULL);
	dlock_lock *m[2] = { mutex(a, "x"), mutex(again, "x") };
	dlock_lock *out = NULL;

	REFUSED(dlock_multi_new(&out, m, 2), DLOCK_EINVAL, "twice");
	dlock_free(m[0]);
	dlock_free(m[1]);
	close_store(again);
}

Test(multi, has_an_order_for_the_same_name_in_two_stores)
{
	dlock_lock *m[2] = { mutex(b, "x"), mutex(a, "x") };
	dlock_lock *out = NULL;

	OK(dlock_multi_new(&out, m, 2));
	OK(dlock_release(take(out)));
	cr_assert_lt(fake_last(one, FAKE_ATTEMPT).begin,
		     fake_last(two, FAKE_ATTEMPT).begin);
	dlock_free(m[0]);
	dlock_free(m[1]);
	dlock_free(out);
}
