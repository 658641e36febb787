/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A release wakes waiters. Times depend on the machine, so the cases count
 * requests to tell a wake from a poll. After a missed wake, only a later poll
 * ends the wait.
 */
#include <time.h>

#include "conform/cases.h"
#include "conform/worker.h"

/* SETTLED_MS: a waiter without a notification channel asks every 100 ms. */
enum { QUIET_MS = 100, SETTLED_MS = 250 };
enum { WATCH_MS = 500, LONG_MS = 300, ROUNDS = 3000 };

static uint64_t attempts(struct worker *const p[], int n)
{
	uint64_t sum = 0;

	while (n-- > 0)
		sum += stats_of(p[n]->client).attempts;
	return sum;
}

/* Wait until the first attempts are over: no attempt for a while. */
static uint64_t settled(struct worker *const p[], int n)
{
	uint64_t before;

	EVENTUALLY((before = attempts(p, n), nap_ms(SETTLED_MS),
		    attempts(p, n) == before));
	return before;
}

/* An idle waiter asks next to never. */
void case_wake_costs_little(struct conform *t)
{
	struct worker *p;
	dlock_hold *h;
	uint64_t before;

	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	h = take(t->lock);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	before = settled(&p, 1);
	nap_ms(WATCH_MS);
	CHECK_INT(stats_of(p->client).attempts - before, <=, 2);
	before = stats_of(p->client).attempts;
	give(h);
	HEAR_OK(p);
	CHECK_INT(stats_of(p->client).attempts - before, <=, 3);
}

/* The grant comes through a wake, not through a due poll. */
static void woken(struct conform *t, enum op op)
{
	struct worker *p = join(t, OTHER_CLIENT);
	struct dlock_stats then, now;
	dlock_hold *h = take(t->lock);

	tell(p, op, -1);
	await_waiters(t, 1);
	settled(&p, 1);
	then = stats_of(p->client);
	give(h);
	HEAR_OK(p);
	now = stats_of(p->client);
	CHECK_INT(now.wakes, >, then.wakes);
	CHECK_INT(now.polls, ==, then.polls);
	leave(t, p);
}

void case_wake_by_release(struct conform *t)
{
	use_mutex(t);
	woken(t, ACQUIRE);
}

void case_wake_readers(struct conform *t)
{
	struct worker *p[4];
	dlock_hold *h;

	use_rwlock(t);
	woken(t, READ);
	woken(t, ACQUIRE);
	/* A writer's release lets in all readers, not only the first. */
	h = take(t->lock);
	for (int i = 0; i < 4; i++) {
		p[i] = join(t, OTHER_CLIENT);
		tell(p[i], READ, -1);
	}
	await_waiters(t, 4);
	give(h);
	for (int i = 0; i < 4; i++)
		HEAR_OK(p[i]);
	for (int i = 0; i < 4; i++)
		CHECK_INT(stats_of(p[i]->client).attempts, <=, 10);
}

void case_wake_permits(struct conform *t)
{
	use_semaphore(t, 1);
	woken(t, ACQUIRE);
}

static int answered(struct worker *const p[], int n)
{
	int count = 0;

	while (n-- > 0)
		count += !quiet(p[n]);
	return count;
}

/* A release may cause a few attempts, but not of all waiters again and
 * again. */
void case_wake_one_of_many(struct conform *t)
{
	enum { MANY = 8 };
	struct worker *p[MANY];
	uint64_t before;
	dlock_hold *h;

	use_mutex(t);
	h = take(t->lock);
	for (int i = 0; i < MANY; i++) {
		p[i] = join(t, OTHER_CLIENT);
		tell(p[i], ACQUIRE, -1);
	}
	await_waiters(t, MANY);
	before = settled(p, MANY);
	give(h);
	EVENTUALLY(answered(p, MANY) > 0);
	ALL_ALONG(QUIET_MS, answered(p, MANY) == 1);
	/* A store with a wait queue wakes the first waiter alone. */
	CHECK_INT(attempts(p, MANY) - before, <=,
		  t->caps & DLOCK_CAP_FAIR ? 4 : 3 * MANY);
	for (int left = MANY; left > 0; left--) {
		int i = 0;

		EVENTUALLY((i = (i + 1) % MANY, p[i] && !quiet(p[i])));
		HEAR_OK(p[i]);
		leave(t, p[i]);
		p[i] = NULL;
	}
}

static void spin_us(int us)
{
	struct timespec ts;
	int64_t end;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = ts.tv_nsec + us * 1000;
	while (ts.tv_nsec < end && ts.tv_nsec >= end - us * 1000)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}

/* Release `us` after the other client's request, at any stage of the request.
 * Return whether only a late poll ended the wait. */
static int missed(struct worker *holder, struct worker *next, int us)
{
	uint64_t polls = stats_of(next->client).polls;
	struct reply r;

	tell(next, ACQUIRE, -1);
	spin_us(us);
	ASK_OK(holder, RELEASE, 0);
	r = hear(next);
	CHECK_INT(r.rc, ==, DLOCK_OK);
	return r.took_ms >= LONG_MS && stats_of(next->client).polls > polls;
}

/* Two clients take turns. A single wait may be late because of the machine. */
void case_wake_never_missed(struct conform *t)
{
	struct worker *p[2];
	int n = 0;

	use_mutex(t);
	for (int i = 0; i < 2; i++)
		p[i] = join(t, OTHER_CLIENT);
	ASK_OK(p[0], ACQUIRE, -1);
	for (int i = 0; i < ROUNDS && n <= 1; i++)
		n += missed(p[i % 2], p[(i + 1) % 2], i % 100);
	CHECK_INT(n, <=, 1);
	for (int i = 0; i < 2; i++)
		CHECK_INT(stats_of(p[i]->client).attempts, <=, 4 * ROUNDS);
}
