/* SPDX-License-Identifier: Apache-2.0 */
/* A revocable holder is told when another client wants the lock. */
#include <stdatomic.h>
#include <string.h>

#include "conform/cases.h"
#include "conform/worker.h"

static atomic_int told; /* DLOCK_WANTED events */
static dlock_hold *_Atomic told_of;

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	(void)why;
	(void)arg;
	if (event != DLOCK_WANTED)
		return;
	atomic_store(&told_of, hold);
	atomic_fetch_add(&told, 1);
}

/* Open a client that counts in `told`. */
static dlock_client *counting_client(struct conform *t)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;

	opts.on_event = on_event;
	return another_client(t, NULL, &opts);
}

/* The causes: a revoke by the same client, a revoke by another client, a
 * waiter. */
void case_revoke_tells_the_holder(struct conform *t)
{
	dlock_client *c;
	dlock_lock *l;

	use_mutex(t);
	c = counting_client(t);
	l = handle(t, c);
	for (int way = 0; way < 3; way++) {
		struct worker *p = join(t, OTHER_CLIENT);
		dlock_hold *h = take(l);
		int before = atomic_load(&told);
		int fd;

		CHECK_OK(dlock_revocable(h));
		fd = dlock_wanted_fd(h);
		CHECK(!is_readable(fd, 0));
		if (way == 2)
			tell(p, ACQUIRE, -1);
		else
			CHECK_OK(
				dlock_revoke(way ? t->lock : l, patience_ms()));
		EVENTUALLY(atomic_load(&told) == before + 1);
		CHECK(atomic_load(&told_of) == h);
		EVENTUALLY(is_readable(fd, 0));
		CHECK_OK(dlock_check(h));
		give(h);
		if (way == 2) {
			HEAR_OK(p);
			ASK_OK(p, RELEASE, 0);
		}
		leave(t, p);
	}
}

/* A holder that ignores the revoke is told again only after another
 * dlock_revocable(). */
void case_revoke_tells_once(struct conform *t)
{
	dlock_client *c;
	dlock_hold *h;

	use_mutex(t);
	c = counting_client(t);
	h = take(handle(t, c));
	for (int i = 1; i <= 3; i++) {
		CHECK_OK(dlock_revocable(h));
		CHECK_OK(dlock_revoke(t->lock, patience_ms()));
		EVENTUALLY(atomic_load(&told) == i);
		CHECK_OK(dlock_revoke(t->lock, patience_ms()));
		ALL_ALONG(30, atomic_load(&told) == i);
	}
	CHECK_OK(dlock_check(h));
	give(h);
}

/* The holder becomes revocable after another client has begun to wait. */
void case_revoke_tells_late(struct conform *t)
{
	struct worker *p;
	dlock_client *c;
	dlock_hold *h;

	use_mutex(t);
	c = counting_client(t);
	p = join(t, OTHER_CLIENT);
	h = take(handle(t, c));
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	CHECK_INT(atomic_load(&told), ==, 0);
	CHECK_OK(dlock_revocable(h));
	EVENTUALLY(atomic_load(&told) == 1);
	CHECK(is_readable(dlock_wanted_fd(h), 0));
	give(h);
	HEAR_OK(p);
	leave(t, p);
}

/* A mutex and a permit are held for several leases. */
void case_revoke_tells_after_leases(struct conform *t)
{
	int n = t->caps & DLOCK_CAP_REVOKE_PERMITS ? 2 : 1;
	dlock_options opts = { .size = sizeof(opts), .on_event = on_event };
	dlock_lock *own[2], *others[2];
	dlock_hold *h[2];
	dlock_client *c;

	use_short_lease(t);
	use_mutex(t);
	c = another_client(t, SHORT_LEASE, &opts);
	own[0] = handle(t, c);
	others[0] = t->lock;
	own[1] = any_lock(t, c, SEMAPHORE, 3, "permits");
	others[1] = any_lock(t, t->client, SEMAPHORE, 3, "permits");
	for (int i = 0; i < n; i++) {
		h[i] = take(own[i]);
		CHECK_OK(dlock_revocable(h[i]));
	}
	ALL_ALONG(t->ttl_ms * 2, dlock_check(h[0]) == DLOCK_OK);
	for (int i = 0; i < n; i++) {
		CHECK_OK(dlock_revoke(others[i], patience_ms()));
		EVENTUALLY(atomic_load(&told) == i + 1);
		CHECK(atomic_load(&told_of) == h[i]);
		give(h[i]);
	}
}

/* Neither a hold that is not revocable nor an ended hold is told. */
void case_revoke_tells_nobody_else(struct conform *t)
{
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	use_mutex(t);
	c = counting_client(t);
	l = handle(t, c);
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	h = take(l);
	CHECK_OK(dlock_revocable(h));
	give(h);
	h = take(l);
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	CHECK_OK(dlock_revoke(l, patience_ms()));
	ALL_ALONG(50, atomic_load(&told) == 0);
	CHECK_OK(dlock_check(h));
	give(h);
	CHECK_OK(dlock_revoke(l, patience_ms()));
}

/* A claim passes from thread to thread of the client. */
void case_revoke_and_passes(struct conform *t)
{
	struct worker *p;
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;
	int64_t begun;

	use_mutex(t);
	c = another_client(t, "keep=10s", NULL);
	l = handle(t, c);
	h = take(l);
	CHECK_OK(dlock_revocable(h));
	give(h);
	CHECK_INT(stats_of(c).kept, ==, 1);
	/* The client gives a kept claim up long before the end of keep=. */
	begun = now_ms();
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	EVENTUALLY(stats_of(c).kept == 0);
	CHECK_INT(now_ms() - begun, <=, 5000);
	EVENTUALLY(stats_of(c).pending_cleanups == 0);
	give(take(l));
	h = take(l);
	CHECK(!is_readable(dlock_wanted_fd(h), 0));
	p = join(t, OTHER_CLIENT);
	tell(p, ACQUIRE, -1);
	EVENTUALLY(is_readable(dlock_wanted_fd(h), 0));
	give(h);
	HEAR_OK(p);
	leave(t, p);
}

void case_revoke_of_a_reader(struct conform *t)
{
	dlock_hold *w, *r;

	use_rwlock(t);
	r = take_shared(t->lock);
	CHECK_RC(dlock_revocable(r), DLOCK_ENOTSUP);
	CHECK_RC(dlock_wanted_fd(r), DLOCK_ENOTSUP);
	give(r);
	w = take(t->lock);
	r = take_shared(t->lock);
	CHECK_RC(dlock_revocable(r), DLOCK_ENOTSUP);
	CHECK_OK(dlock_revocable(w));
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	CHECK(is_readable(dlock_wanted_fd(w), 0));
	give(w);
	CHECK_RC(dlock_revocable(r), DLOCK_ENOTSUP);
	give(r);
}

/* Each revocable holder of each client is told once. */
void case_revoke_of_permits(struct conform *t)
{
	dlock_client *c[2];
	dlock_hold *h[4];
	dlock_lock *l[2];

	use_semaphore(t, 5);
	for (int i = 0; i < 2; i++) {
		c[i] = counting_client(t);
		l[i] = handle(t, c[i]);
	}
	for (int i = 0; i < 4; i++) {
		h[i] = take(l[i % 2]);
		if (i < 3)
			CHECK_OK(dlock_revocable(h[i]));
	}
	for (int i = 1; i <= 2; i++) {
		CHECK_OK(dlock_revoke(i == 1 ? t->lock : l[0], patience_ms()));
		EVENTUALLY(atomic_load(&told) == 3 * i);
		CHECK_OK(dlock_revoke(t->lock, patience_ms()));
		ALL_ALONG(30, atomic_load(&told) == 3 * i);
		for (int j = 0; j < 3; j++) {
			CHECK(is_readable(dlock_wanted_fd(h[j]), 0));
			CHECK_OK(dlock_revocable(h[j]));
		}
	}
	give(h[0]);
	give(h[3]);
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	EVENTUALLY(atomic_load(&told) == 8);
	for (int i = 1; i < 3; i++) {
		CHECK_OK(dlock_check(h[i]));
		give(h[i]);
	}
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	give(take(l[0]));
	CHECK_INT(atomic_load(&told), ==, 8);
}

void case_revoke_of_several_permits(struct conform *t)
{
	dlock_hold *one, *three;
	dlock_client *c;
	dlock_lock *l;

	use_semaphore(t, 5);
	c = counting_client(t);
	l = handle(t, c);
	one = take(l);
	three = take_several(l, 3);
	CHECK_OK(dlock_revocable(three));
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	EVENTUALLY(atomic_load(&told) == 1);
	CHECK(atomic_load(&told_of) == three);
	give(three);
	CHECK_OK(dlock_revocable(one));
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	EVENTUALLY(atomic_load(&told) == 2);
	CHECK(atomic_load(&told_of) == one);
	give(one);
}

/* A waiter tells no holder of a semaphore; a revoke does. A released permit
 * goes to the waiter, and tokens keep rising. */
void case_revoke_of_a_full_semaphore(struct conform *t)
{
	struct worker *p;
	dlock_client *c;
	dlock_hold *h[2];
	uint64_t last;

	use_semaphore(t, 2);
	c = counting_client(t);
	p = join(t, OTHER_CLIENT);
	for (int i = 0; i < 2; i++) {
		h[i] = take(handle(t, c));
		CHECK_OK(dlock_revocable(h[i]));
	}
	last = dlock_token(h[1]);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	ALL_ALONG(50, quiet(p) && atomic_load(&told) == 0);
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	for (int i = 0; i < 2; i++)
		EVENTUALLY(is_readable(dlock_wanted_fd(h[i]), 0));
	give(h[0]);
	HEAR_OK(p);
	CHECK_OK(dlock_check(h[1]));
	give(h[1]);
	h[1] = take(t->lock);
	if (t->caps & DLOCK_CAP_FENCE)
		CHECK(dlock_token(h[1]) > last);
	give(h[1]);
	ASK_OK(p, RELEASE, 0);
	leave(t, p);
}

void case_revoke_of_many_permits(struct conform *t)
{
	enum { PERMITS = 100 };
	dlock_hold *h[PERMITS];
	dlock_lock *l;

	use_semaphore(t, PERMITS);
	l = handle(t, counting_client(t));
	for (int i = 0; i < PERMITS; i++) {
		h[i] = take(l);
		CHECK_OK(dlock_revocable(h[i]));
	}
	CHECK_OK(dlock_revoke(t->lock, patience_ms()));
	EVENTUALLY(atomic_load(&told) == PERMITS);
	for (int i = 0; i < PERMITS; i++)
		give(h[i]);
}

void case_revoke_of_permits_refused(struct conform *t)
{
	int rc = t->caps & DLOCK_CAP_REVOKE_PERMITS ? DLOCK_OK : DLOCK_ENOTSUP;
	dlock_hold *h;

	use_semaphore(t, 2);
	CHECK_RC(dlock_revoke(t->lock, patience_ms()), rc);
	h = take(t->lock);
	CHECK_RC(dlock_revocable(h), rc);
	CHECK_RC(dlock_revoke(t->lock, patience_ms()), rc);
	if (rc != DLOCK_OK)
		CHECK_RC(dlock_wanted_fd(h), rc);
	CHECK_OK(dlock_check(h));
	give(h);
}
