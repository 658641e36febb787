/* SPDX-License-Identifier: Apache-2.0 */
/* A multi-lock: all members or none, under a single deadline. */
#include <poll.h>

#include "conform/cases.h"
#include "conform/worker.h"

enum { N = 3 };

/* N mutexes of the same client, not sorted by name. */
static void members(struct conform *t, dlock_client *c, dlock_lock *out[N])
{
	static const char *const names[N] = { "conform/m", "conform/a",
					      "conform/z" };

	for (int i = 0; i < N; i++)
		out[i] = any_lock(t, c, MUTEX, 0, names[i]);
}

void case_multi_none(struct conform *t)
{
	dlock_lock *mine[N], *theirs[N];
	dlock_lock *all;

	members(t, t->client, mine);
	members(t, another_client(t, NULL, NULL), theirs);
	all = multi(t, mine, N);
	for (int busy = 0; busy < N; busy++) {
		dlock_hold *h = take(theirs[busy]);
		dlock_hold *none = NULL;

		for (int64_t timeout = 0; timeout <= 30; timeout += 30) {
			CHECK_RC(acquire(all, timeout, &none), DLOCK_EBUSY);
			CHECK(!none);
			for (int i = 0; i < N; i++) {
				if (i != busy)
					is_free(theirs[i]);
			}
		}
		give(h);
		CHECK_INT(stats_of(t->client).holds, ==, 0);
		is_free(all);
	}
}

enum { TIMEOUT_MS = 400 };

/* A member that comes free must not restart the timeout: the wait would last
 * 2.5 timeouts. */
static int64_t one_deadline(struct conform *t, dlock_lock *all,
			    struct worker *p[N])
{
	struct worker *asks;
	dlock_lock *lock = t->lock;
	struct reply r;

	for (int i = 0; i < N; i++)
		ASK_OK(p[i], ACQUIRE, patience_ms());
	t->lock = all;
	asks = join(t, SAME_HANDLE);
	t->lock = lock;
	tell(asks, ACQUIRE, TIMEOUT_MS);
	nap_ms(TIMEOUT_MS * 3 / 4);
	ASK_OK(p[1], RELEASE, 0); /* the first in the global order */
	nap_ms(TIMEOUT_MS / 8);
	ASK_OK(p[0], RELEASE, 0);
	r = hear(asks);
	CHECK_INT(r.rc, ==, DLOCK_EBUSY);
	CHECK_INT(r.took_ms, >=, TIMEOUT_MS - 1);
	ASK_OK(p[2], RELEASE, 0);
	leave(t, asks);
	is_free(all);
	return r.took_ms;
}

void case_multi_one_deadline(struct conform *t)
{
	dlock_lock *mine[N], *theirs[N];
	dlock_lock *all;
	struct worker *p[N];

	members(t, t->client, mine);
	members(t, another_client(t, NULL, NULL), theirs);
	all = multi(t, mine, N);
	for (int i = 0; i < N; i++) {
		t->lock = theirs[i];
		p[i] = join(t, SAME_HANDLE);
	}
	CHECK_WITHIN(one_deadline(t, all, p), TIMEOUT_MS + slack_ms());
}

/* The members are named in opposite orders, by two threads and by two
 * clients. */
void case_multi_opposite(struct conform *t)
{
	dlock_client *c[2] = { t->client, another_client(t, NULL, NULL) };

	t->arena = arena_map(t->dir);
	for (int clients = 1; clients <= 2; clients++) {
		struct worker *p[2];

		for (int i = 0; i < 2; i++) {
			dlock_lock *m[N], *turned[N];

			members(t, c[i % clients], m);
			for (int k = 0; k < N; k++)
				turned[k] = m[i ? N - 1 - k : k];
			t->lock = multi(t, turned, N);
			p[i] = join(t, SAME_HANDLE);
			tell(p[i], WORK, 150);
		}
		for (int i = 0; i < 2; i++) {
			HEAR_OK(p[i]);
			leave(t, p[i]);
		}
		CHECK_INT(t->arena->overlaps, ==, 0);
		CHECK_INT(t->arena->most, ==, 1);
	}
}

static void note_token(const struct dlock_participant *participant, void *arg)
{
	*(uint64_t *)arg = participant->token;
}

void case_multi_member_order(struct conform *t)
{
	dlock_lock *mine[N];
	dlock_hold *h;

	members(t, t->client, mine);
	h = take(multi(t, mine, N));
	for (size_t i = 0; i < N; i++) {
		uint64_t seen = 0;

		CHECK_OK(dlock_inspect(mine[i], note_token, &seen,
				       patience_ms()));
		CHECK(seen > 0);
		CHECK(dlock_token(dlock_member(h, i)) == seen);
	}
	give(h);
}

/* Members are re-entrant, but each acquire of the multi-lock is a new hold. */
void case_multi_again(struct conform *t)
{
	dlock_lock *mine[N], *other;
	dlock_hold *h, *again, *one;
	dlock_lock *all;

	members(t, t->client, mine);
	other = any_lock(t, another_client(t, NULL, NULL), MUTEX, 0,
			 "conform/a");
	all = multi(t, mine, N);
	one = take(mine[1]);
	h = take(all);
	again = take(all);
	CHECK(h != again);
	CHECK(dlock_member(h, 1) == one);
	give(h);
	CHECK_OK(dlock_check(again));
	refused(other);
	give(again);
	CHECK_OK(dlock_check(one));
	refused(other);
	give(one);
	is_free(other);
}

/* A lost member loses the multi-lock. */
void case_multi_lost(struct conform *t)
{
	dlock_client *brief = another_client(t, "max_hold=100ms", NULL);
	dlock_lock *mine[2], *all;
	struct pollfd p = { .events = POLLIN };
	dlock_hold *h;

	use_mutex(t);
	mine[0] = t->lock;
	mine[1] = any_lock(t, brief, MUTEX, 0, "conform/brief");
	all = multi(t, mine, 2);
	h = take(all);
	p.fd = dlock_hold_fd(h);
	CHECK_INT(p.fd, >=, 0);
	CHECK_INT(dlock_hold_fd(h), ==, p.fd);
	CHECK_INT(poll(&p, 1, 0), ==, 0);
	CHECK_INT(dlock_remaining_ms(h), <=, 100);
	CHECK_INT(poll(&p, 1, (int)patience_ms()), ==, 1);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK_INT(dlock_remaining_ms(h), ==, 0);
	CHECK_OK(dlock_check(dlock_member(h, 0)));
	CHECK_RC(dlock_check(dlock_member(h, 1)), DLOCK_ELOST);
	CHECK_RC(release(h), DLOCK_ELOST);
	give(take(all));
}

/* ---- Read sides ---------------------------------------------------------- */

static dlock_lock *reader(struct conform *t, dlock_client *c, const char *name)
{
	dlock_lock *l = any_lock(t, c, RWLOCK, 0, name);

	CHECK_OK(dlock_lock_use_read_side(l));
	return l;
}

/* Each multi-lock has a mutex and the read side of the same lock. */
void case_multi_read_sides(struct conform *t)
{
	dlock_client *other = another_client(t, NULL, NULL);
	dlock_lock *mine[2], *theirs[2], *writer, *both, *a, *b;
	dlock_hold *h[2], *w;

	mine[0] = any_lock(t, t->client, MUTEX, 0, "conform/m");
	mine[1] = reader(t, t->client, "conform/a");
	theirs[0] = any_lock(t, other, MUTEX, 0, "conform/z");
	theirs[1] = reader(t, other, "conform/a");
	writer = any_lock(t, another_client(t, NULL, NULL), RWLOCK, 0,
			  "conform/a");
	a = multi(t, mine, 2);
	b = multi(t, theirs, 2);
	h[0] = take(a);
	h[1] = take(b);
	for (size_t i = 0; i < 2; i++) {
		CHECK_OK(dlock_check(dlock_member(h[0], i)));
		CHECK_OK(dlock_check(dlock_member(h[1], i)));
	}
	refused(writer);
	give(h[0]);
	refused(writer);
	give(h[1]);
	w = take(writer);
	refused(a);
	refused(theirs[1]);
	give(w);
	/* A read side alone beside another reader, and then the write side. */
	h[0] = take(mine[1]);
	h[1] = take(theirs[1]);
	refused(writer);
	give(h[0]);
	give(h[1]);
	mine[1] = any_lock(t, t->client, RWLOCK, 0, "conform/a");
	both = multi(t, mine, 2);
	h[0] = take(both);
	refused(b);
	give(h[0]);
}
