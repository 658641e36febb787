/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend_net.h>

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "support/wait.h"

struct connection {
	struct dlk_pooled base;
	atomic_int users;
	int dead;
};

/* What the pool did. */
static atomic_int n_open, most_open, opened, asked;
/* What the next open() is to do. */
static atomic_int failing, held_up, opening;
static dlk_time greeted_after;
static struct dlk_pool *renewed_by_open;

static struct dlk_pooled *open_it(void *arg, dlk_time deadline,
				  struct dlk_error *err)
{
	struct connection *c;
	int n, most;

	CHECK(arg == &n_open);
	(void)deadline;
	atomic_fetch_add(&opening, 1);
	while (atomic_load(&held_up))
		nap_ms(1);
	if (renewed_by_open)
		dlk_pool_renew(renewed_by_open);
	if (atomic_load(&failing)) {
		dlk_fail(err, DLOCK_EUNREACHABLE, "nobody is there");
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	CHECK(c);
	c->base.round_trip = greeted_after;
	atomic_fetch_add(&opened, 1);
	n = atomic_fetch_add(&n_open, 1) + 1;
	most = atomic_load(&most_open);
	while (n > most && !atomic_compare_exchange_weak(&most_open, &most, n))
		continue;
	return &c->base;
}

static void close_it(struct dlk_pooled *p)
{
	atomic_fetch_sub(&n_open, 1);
	free(p);
}

static int usable(struct dlk_pooled *p)
{
	atomic_fetch_add(&asked, 1);
	return !((struct connection *)p)->dead;
}

static const struct dlk_pool_type type = { open_it, close_it, usable };

static struct dlk_pool *pool(size_t max, size_t keep)
{
	struct dlk_pool *p = dlk_pool_new(&type, &n_open, max, keep);

	CHECK(p);
	return p;
}

static struct dlk_pooled *take(struct dlk_pool *p, int *fresh)
{
	struct dlk_error err = { 0 };
	struct dlk_pooled *c = dlk_pool_take(p, dlki_deadline(patience_ms()),
					     fresh, &err);

	if (!c)
		FAIL("%s", err.text);
	return c;
}

/* NULL within `ms`; the error's text mentions `why`. */
static int64_t take_none(struct dlk_pool *p, int64_t ms, int code,
			 const char *why)
{
	struct dlk_error err = { 0 };
	int64_t start = now_ms();
	int fresh = 7;

	CHECK(!dlk_pool_take(p, dlki_deadline(ms), &fresh, &err));
	CHECK_INT(err.code, ==, code);
	CHECK_TEXT(err.text, why);
	CHECK_INT(fresh == DLK_POOL_CROWDED, ==, code == DLOCK_EEXHAUSTED);
	return now_ms() - start;
}

static void done(struct dlk_pool *p)
{
	dlk_pool_free(p);
	CHECK_INT(atomic_load(&n_open), ==, 0);
}

Test(pool, the_last_used_is_the_next)
{
	struct dlk_pool *p = pool(3, 3);
	struct dlk_pooled *a, *b;
	int fresh = 0;

	a = take(p, &fresh);
	CHECK_INT(fresh, ==, 1);
	b = take(p, NULL);
	CHECK(a != b);
	dlk_pool_give(p, b, 1);
	dlk_pool_give(p, a, 1);
	CHECK(take(p, &fresh) == a);
	CHECK_INT(fresh, ==, 0);
	CHECK(take(p, NULL) == b);
	dlk_pool_give(p, a, 1);
	dlk_pool_give(p, b, 1);
	CHECK(take(p, NULL) == b);
	dlk_pool_give(p, b, 1);
	CHECK_INT(atomic_load(&opened), ==, 2);
	CHECK_INT(atomic_load(&asked), ==, 0);
	done(p);
	dlk_pool_free(NULL);
}

Test(pool, the_spoilt_are_closed)
{
	struct dlk_pool *p = pool(1, 1);
	int fresh = 0;

	dlk_pool_give(p, take(p, NULL), 0);
	CHECK_INT(atomic_load(&n_open), ==, 0);
	dlk_pool_give(p, take(p, &fresh), 1);
	CHECK_INT(fresh, ==, 1);
	CHECK_INT(atomic_load(&opened), ==, 2);
	done(p);
}

Test(pool, nothing_is_opened_once_the_deadline_has_passed)
{
	struct dlk_pool *p = pool(1, 1);
	struct dlk_error err = { 0 };
	struct dlk_pooled *c;

	CHECK(!dlk_pool_take(p, dlk_now(), NULL, &err));
	CHECK_INT(err.code, ==, DLOCK_EUNREACHABLE);
	CHECK_INT(atomic_load(&opening), ==, 0);
	/* An idle connection is not given to be spoilt, either. */
	c = take(p, NULL);
	dlk_pool_give(p, c, 1);
	CHECK(!dlk_pool_take(p, dlk_now(), NULL, &err));
	CHECK(take(p, NULL) == c);
	dlk_pool_give(p, c, 1);
	done(p);
}

Test(pool, no_more_are_kept_than_wished)
{
	for (size_t keep = 0; keep < 3; keep++) {
		struct dlk_pool *p = pool(4, keep);
		struct dlk_pooled *c[4];

		for (int i = 0; i < 4; i++)
			c[i] = take(p, NULL);
		for (int i = 0; i < 4; i++)
			dlk_pool_give(p, c[i], 1);
		CHECK_INT(atomic_load(&n_open), ==, keep);
		done(p);
	}
}

static dlk_time later;

static dlk_time clock_of_test(void)
{
	return later;
}

Test(pool, the_long_idle_and_the_doubtful_are_looked_at)
{
	struct dlk_pool *p = pool(2, 2);
	struct dlk_pooled *a, *b;
	int fresh = 1;

	dlki_clock = clock_of_test;
	a = take(p, NULL);
	b = take(p, NULL);
	dlk_pool_give(p, a, 1);
	later += 999 * DLK_MS;
	CHECK(take(p, NULL) == a);
	CHECK_INT(atomic_load(&asked), ==, 0);
	dlk_pool_give(p, a, 1);
	later += 1000 * DLK_MS;
	CHECK(take(p, NULL) == a);
	CHECK_INT(atomic_load(&asked), ==, 1);
	dlk_pool_give(p, a, 1);
	/* That one is spoilt makes the rest suspect, used lately or not. */
	later += DLK_MS;
	dlk_pool_give(p, b, 0);
	((struct connection *)a)->dead = 1;
	a = take(p, &fresh);
	CHECK_INT(atomic_load(&asked), ==, 2);
	CHECK_INT(fresh, ==, 1);
	CHECK_INT(atomic_load(&opened), ==, 3);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	later += DLK_MS;
	dlk_pool_give(p, a, 1);
	CHECK(take(p, &fresh) == a);
	CHECK_INT(fresh, ==, 0);
	CHECK_INT(atomic_load(&asked), ==, 2);
	dlk_pool_give(p, a, 1);
	done(p);
}

/* Whether a request that has `ms` is kept from the connection. */
static int spared(struct dlk_pool *p, struct dlk_pooled *c, int64_t ms)
{
	struct dlk_error err = { 0 };
	int is = dlk_pool_spare(p, c, "peer:1", dlki_deadline(ms), &err);

	CHECK_INT(err.code, ==, is ? DLOCK_EUNREACHABLE : 0);
	if (is)
		CHECK_TEXT(err.text, "peer:1: connected, but no time was left");
	return is;
}

Test(pool, a_slow_connection_is_spared_until_a_request_has_time)
{
	struct dlk_pool *p = pool(2, 2);
	struct dlk_pooled *c;
	int fresh = 0;

	dlki_clock = clock_of_test;
	greeted_after = 700 * DLK_MS;
	c = take(p, &fresh);
	CHECK_INT(fresh, ==, 1);
	CHECK(spared(p, c, 600));
	/* The same call's next attempt, and another call's. */
	for (int i = 0; i < 2; i++) {
		later += 10 * DLK_MS;
		CHECK(take(p, &fresh) == c);
		CHECK_INT(fresh, ==, 0);
		CHECK(spared(p, c, 590));
	}
	CHECK(take(p, NULL) == c);
	CHECK(!spared(p, c, 700));
	dlk_pool_give(p, c, 1);
	CHECK(take(p, NULL) == c);
	CHECK(!spared(p, c, 1));
	dlk_pool_give(p, c, 1);
	CHECK_INT(atomic_load(&opened), ==, 1);
	done(p);
}

/* The network may have become faster, and only a request can find that out. */
Test(pool, a_slow_connection_is_spared_no_longer_than_its_greeting_took)
{
	struct dlk_pool *p = pool(1, 1);
	struct dlk_pooled *c;

	dlki_clock = clock_of_test;
	greeted_after = 700 * DLK_MS;
	c = take(p, NULL);
	CHECK(spared(p, c, 40));
	later += 699 * DLK_MS;
	CHECK(take(p, NULL) == c);
	CHECK(spared(p, c, 40));
	later += DLK_MS;
	CHECK(take(p, NULL) == c);
	CHECK(!spared(p, c, 40));
	dlk_pool_give(p, c, 1);
	CHECK_INT(atomic_load(&opened), ==, 1);
	done(p);
}

Test(pool, renewing_closes_idle_ones_and_those_in_use)
{
	struct dlk_pool *p = pool(3, 3);
	struct dlk_pooled *a = take(p, NULL), *b = take(p, NULL);
	int fresh = 0;

	dlk_pool_give(p, b, 1);
	dlk_pool_renew(p);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	b = take(p, &fresh);
	CHECK_INT(fresh, ==, 1);
	dlk_pool_give(p, a, 1);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	dlk_pool_give(p, b, 1);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	CHECK(take(p, NULL) == b);
	dlk_pool_give(p, b, 1);
	done(p);
}

Test(pool, one_that_fell_silent_makes_the_idle_ones_suspect)
{
	struct dlk_pool *p = pool(4, 4);
	struct dlk_pooled *a = take(p, NULL), *b = take(p, NULL);
	struct dlk_pooled *busy = take(p, NULL), *silent = take(p, NULL);
	int fresh = 0;

	dlk_pool_give(p, a, 1);
	dlk_pool_give(p, b, 1);
	dlk_pool_dead(p, silent);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	a = take(p, &fresh);
	CHECK_INT(fresh, ==, 1);
	/* What was answered since is alive. */
	dlk_pool_give(p, busy, 1);
	CHECK(take(p, &fresh) == busy);
	CHECK_INT(fresh, ==, 0);
	dlk_pool_give(p, busy, 1);
	dlk_pool_give(p, a, 1);
	CHECK_INT(atomic_load(&n_open), ==, 2);
	done(p);
}

Test(pool, renewing_closes_what_is_being_opened)
{
	struct dlk_pool *p = pool(1, 1);
	struct dlk_pooled *c;

	renewed_by_open = p;
	c = take(p, NULL);
	renewed_by_open = NULL;
	dlk_pool_give(p, c, 1);
	CHECK_INT(atomic_load(&n_open), ==, 0);
	done(p);
}

/* ---- Waiting ------------------------------------------------------------- */

struct waiting {
	struct dlk_pool *p;
	struct dlk_pooled *got;
	int fresh;
	atomic_int tid;
	pthread_t thread;
};

static void *wait_for_one(void *arg)
{
	struct waiting *w = arg;

	atomic_store(&w->tid, (int)syscall(SYS_gettid));
	w->got = take(w->p, &w->fresh);
	return NULL;
}

static void start(struct waiting *w, struct dlk_pool *p)
{
	w->p = p;
	atomic_init(&w->tid, 0);
	CHECK(pthread_create(&w->thread, NULL, wait_for_one, w) == 0);
}

static int asleep(int tid)
{
	char path[64], text[256];
	const char *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

/* Until the thread of that id, once it is known, waits in line. */
static void await_in_line(atomic_int *tid)
{
	EVENTUALLY(atomic_load(tid) != 0);
	EVENTUALLY(asleep(atomic_load(tid)));
}

static void start_waiting(struct waiting *w, struct dlk_pool *p)
{
	start(w, p);
	await_in_line(&w->tid);
}

Test(pool, a_waiter_has_its_deadline)
{
	struct dlk_pool *p = pool(2, 2);
	struct dlk_pooled *a = take(p, NULL), *b = take(p, NULL);

	CHECK_WITHIN(take_none(p, 100, DLOCK_EEXHAUSTED, "all 2 connections"),
		     100 + slack_ms());
	CHECK_INT(take_none(p, 50, DLOCK_EEXHAUSTED, "in use"), >=, 49);
	dlk_pool_give(p, a, 1);
	CHECK(take(p, NULL) == a);
	dlk_pool_give(p, a, 1);
	dlk_pool_give(p, b, 1);
	done(p);
}

/* Also where nothing idle is kept. */
Test(pool, a_waiter_gets_what_is_given_back)
{
	for (size_t keep = 0; keep < 2; keep++) {
		struct dlk_pool *p = pool(1, keep);
		struct dlk_pooled *c = take(p, NULL);
		struct waiting w;

		start_waiting(&w, p);
		dlk_pool_give(p, c, 1);
		pthread_join(w.thread, NULL);
		CHECK(w.got == c);
		CHECK_INT(w.fresh, ==, 0);
		dlk_pool_give(p, c, 1);
		CHECK_INT(atomic_load(&n_open), ==, keep);
		done(p);
	}
}

Test(pool, a_waiter_gets_leave_to_open_another)
{
	struct dlk_pool *p = pool(1, 1);
	struct dlk_pooled *c = take(p, NULL);
	struct waiting w;

	start_waiting(&w, p);
	dlk_pool_give(p, c, 0);
	pthread_join(w.thread, NULL);
	CHECK_INT(w.fresh, ==, 1);
	dlk_pool_give(p, w.got, 1);
	done(p);
}

static struct dlk_pooled *take_urgent(struct dlk_pool *p, int *fresh)
{
	struct dlk_error err = { 0 };
	struct dlk_pooled *c = dlk_pool_take_urgent(
		p, dlki_deadline(patience_ms()), fresh, &err);

	if (!c)
		FAIL("%s", err.text);
	return c;
}

/* It waits for nobody, and takes nothing from those who wait. */
Test(pool, an_urgent_request_goes_before)
{
	struct dlk_pool *p = pool(1, 1);
	struct dlk_pooled *c = take(p, NULL), *urgent;
	struct waiting w;
	int fresh = 0;

	start_waiting(&w, p);
	urgent = take_urgent(p, &fresh);
	CHECK_INT(fresh, ==, 1);
	CHECK_INT(atomic_load(&n_open), ==, 2);
	dlk_pool_give(p, urgent, 1);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	urgent = take_urgent(p, NULL);
	dlk_pool_dead(p, urgent);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	dlk_pool_give(p, c, 1);
	pthread_join(w.thread, NULL);
	CHECK(w.got == c);
	dlk_pool_give(p, c, 1);
	/* Where one is idle, that will do. */
	CHECK(take_urgent(p, &fresh) == c);
	CHECK_INT(fresh, ==, 0);
	dlk_pool_give(p, c, 1);
	CHECK_INT(atomic_load(&most_open), ==, 2);
	done(p);
}

/* There is one too many when another is given back: one of them goes. */
Test(pool, an_urgent_request_leaves_no_more_than_there_may_be)
{
	struct dlk_pool *p = pool(1, 1);
	struct dlk_pooled *c = take(p, NULL), *urgent = take_urgent(p, NULL);

	dlk_pool_give(p, c, 1);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	dlk_pool_give(p, urgent, 1);
	CHECK_INT(atomic_load(&n_open), ==, 1);
	CHECK(take(p, NULL) == urgent);
	dlk_pool_give(p, urgent, 1);
	done(p);
}

Test(pool, renewing_lets_waiters_go_on)
{
	struct dlk_pool *p = pool(2, 2);
	struct dlk_pooled *a = take(p, NULL), *b = take(p, NULL);
	struct waiting w[2];

	start_waiting(&w[0], p);
	start_waiting(&w[1], p);
	dlk_pool_renew(p);
	dlk_pool_give(p, a, 1);
	dlk_pool_give(p, b, 1);
	for (int i = 0; i < 2; i++) {
		pthread_join(w[i].thread, NULL);
		CHECK_INT(w[i].fresh, ==, 1);
	}
	for (int i = 0; i < 2; i++)
		dlk_pool_give(p, w[i].got, 1);
	done(p);
}

Test(pool, several_given_at_once_serve_several)
{
	for (int round = 0; round < 50; round++) {
		struct dlk_pool *p = pool(3, 3);
		struct dlk_pooled *c[3];
		struct waiting w[3];
		int64_t begin = now_ms();

		for (int i = 0; i < 3; i++)
			c[i] = take(p, NULL);
		for (int i = 0; i < 3; i++)
			start(&w[i], p);
		nap_ms(round % 5);
		for (int i = 0; i < 3; i++)
			dlk_pool_give(p, c[i], i != 1);
		for (int i = 0; i < 3; i++)
			pthread_join(w[i].thread, NULL);
		/* One that is not told looks for itself after 5 s. */
		CHECK_INT(now_ms() - begin, <, 4000);
		for (int i = 0; i < 3; i++)
			dlk_pool_give(p, w[i].got, 1);
		done(p);
	}
}

Test(pool, a_failure_to_open_costs_nothing)
{
	struct dlk_pool *p = pool(1, 1);
	struct waiting w;

	atomic_store(&failing, 1);
	for (int i = 0; i < 3; i++)
		take_none(p, patience_ms(), DLOCK_EUNREACHABLE,
			  "nobody is there");
	atomic_store(&failing, 0);
	dlk_pool_give(p, take(p, NULL), 0);
	/* One that is being opened counts, and is made outside the lock. */
	atomic_store(&opening, 0);
	atomic_store(&held_up, 1);
	start(&w, p);
	EVENTUALLY(atomic_load(&opening) == 1);
	take_none(p, 20, DLOCK_EEXHAUSTED, "in use");
	atomic_store(&held_up, 0);
	pthread_join(w.thread, NULL);
	dlk_pool_give(p, w.got, 1);
	done(p);
}

/* ---- Many ---------------------------------------------------------------- */

enum { THREADS = 8, MAX = 3 };

struct worker {
	struct dlk_pool *p;
	unsigned int seed;
	int rounds;
	pthread_t thread;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < w->rounds; i++) {
		struct dlk_pooled *p = take(w->p, NULL);
		struct connection *c = (struct connection *)p;
		unsigned int dice = (unsigned int)rand_r(&w->seed) % 100;

		CHECK_INT(atomic_fetch_add(&c->users, 1), ==, 0);
		if (dice < 5)
			nap_ms(1);
		atomic_fetch_sub(&c->users, 1);
		if (dice == 50)
			dlk_pool_renew(w->p);
		dlk_pool_give(w->p, p, dice < 90);
	}
	return NULL;
}

Test(pool, many_threads)
{
	for (size_t keep = 0; keep <= MAX; keep++) {
		struct dlk_pool *p = pool(MAX, keep);
		struct worker w[THREADS];

		atomic_store(&most_open, 0);
		for (unsigned int i = 0; i < THREADS; i++) {
			w[i] = (struct worker){ p, i + 1, 500, 0 };
			CHECK(pthread_create(&w[i].thread, NULL, work, &w[i]) ==
			      0);
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(w[i].thread, NULL);
		CHECK_INT(atomic_load(&most_open), <=, MAX);
		CHECK_INT(atomic_load(&n_open), <=, keep);
		done(p);
	}
}

struct turn {
	struct dlk_pool *pool;
	atomic_int tid, go;
};

static void *wait_for_turn(void *arg)
{
	struct turn *t = arg;
	struct dlk_pooled *c;

	atomic_store(&t->tid, (int)syscall(SYS_gettid));
	c = take(t->pool, NULL);
	EVENTUALLY(atomic_load(&t->go));
	dlk_pool_give(t->pool, c, 1);
	return NULL;
}

/* A thread that gives and takes again at once is quicker than one that has to
 * wake up first: once, not twice. */
Test(pool, a_waiter_is_passed_over_once_at_most)
{
	struct dlk_pool *p = pool(1, 1);

	for (int i = 0; i < 100; i++) {
		struct turn t = { .pool = p };
		struct dlk_pooled *c = take(p, NULL);
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, wait_for_turn, &t) == 0);
		await_in_line(&t.tid);
		for (int turn = 0; c && turn < 2; turn++) {
			dlk_pool_give(p, c, 1);
			c = dlk_pool_take(p, dlk_now(), NULL, NULL);
		}
		CHECK(!c);
		atomic_store(&t.go, 1);
		pthread_join(thread, NULL);
	}
	done(p);
}
