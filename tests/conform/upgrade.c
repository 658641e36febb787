/* SPDX-License-Identifier: Apache-2.0 */
/* A reader becomes a writer without another writer in between. */
#include "conform/cases.h"
#include "conform/executor.h"
#include "conform/worker.h"

void case_upgrade_excludes(struct conform *t)
{
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	EACH_WAY(t, p)
	{
		dlock_hold *r = take(upg), *w;

		ASK_OK(p, READ, at_once_ms());
		ASK_OK(p, RELEASE, 0);
		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		w = upgrade(upg, r);
		if (t->caps & DLOCK_CAP_FENCE)
			CHECK(dlock_token(w) > dlock_token(r));
		CHECK_INT(ask(p, READ, 0).rc, ==, DLOCK_EBUSY);
		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		CHECK_RC(dlock_release(r), DLOCK_EINVAL);
		CHECK_TEXT(dlock_errmsg(), "write side first");
		give(w);
		CHECK_OK(dlock_check(r));
		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		ASK_OK(p, READ, patience_ms());
		ASK_OK(p, RELEASE, 0);
		give(r);
		ASK_OK(p, ACQUIRE, patience_ms());
		ASK_OK(p, RELEASE, 0);
	}
}

void case_upgrade_one_at_a_time(struct conform *t)
{
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	EACH_WAY(t, p)
	{
		dlock_hold *r = take(upg);

		CHECK_INT(ask(p, UPGRADEABLE, 0).rc, ==, DLOCK_EBUSY);
		tell(p, UPGRADEABLE, -1);
		await_waiters(t, 1);
		give(upgrade(upg, r));
		ALL_ALONG(10, quiet(p));
		give(r);
		HEAR_OK(p);
		ASK_OK(p, UPGRADE, patience_ms());
		refused(upg);
		ASK_OK(p, RELEASE, 0);
		ASK_OK(p, RELEASE, 0);
	}
	is_free(upg);
}

/* Make a worker begin to upgrade while `reader` reads. */
static struct worker *upgrader_behind(struct conform *t, struct worker *reader)
{
	struct worker *p = join(t, OTHER_CLIENT);

	ASK_OK(p, UPGRADEABLE, patience_ms());
	ASK_OK(reader, READ, patience_ms());
	CHECK_INT(ask(p, UPGRADE, 0).rc, ==, DLOCK_EBUSY);
	ASK_OK(p, CHECK_HOLD, 0);
	tell(p, UPGRADE, -1);
	await_waiters(t, 1);
	return p;
}

void case_upgrade_waits_for_readers(struct conform *t)
{
	use_rwlock(t);
	EACH_WAY(t, reader)
	{
		struct worker *p = upgrader_behind(t, reader);

		ALL_ALONG(10, quiet(p));
		ASK_OK(reader, RELEASE, 0);
		HEAR_OK(p);
		refused_shared(t->lock);
		leave(t, p);
	}
}

/* The writer asked first, but waits for the upgradeable reader. */
void case_upgrade_before_a_writer(struct conform *t)
{
	struct worker *p, *reader, *writer;
	struct reply mine, next;

	use_rwlock(t);
	reader = join(t, OTHER_CLIENT);
	writer = join(t, OTHER_CLIENT);
	p = join(t, OTHER_CLIENT);
	ASK_OK(p, UPGRADEABLE, patience_ms());
	ASK_OK(reader, READ, patience_ms());
	tell(writer, ACQUIRE, -1);
	await_waiters(t, 1);
	tell(p, UPGRADE, -1);
	await_waiters(t, 2);
	ASK_OK(reader, RELEASE, 0);
	mine = hear(p);
	CHECK_INT(mine.rc, ==, DLOCK_OK);
	ALL_ALONG(10, quiet(writer));
	ASK_OK(p, RELEASE, 0);
	ALL_ALONG(10, quiet(writer));
	ASK_OK(p, RELEASE, 0);
	next = hear(writer);
	CHECK_INT(next.rc, ==, DLOCK_OK);
	CHECK(next.token > mine.token || mine.token == 0);
}

void case_upgrade_not_starved(struct conform *t)
{
	struct worker *reader[2], *p;

	use_rwlock(t);
	reader[0] = join(t, OTHER_CLIENT);
	reader[1] = join(t, OTHER_CLIENT);
	p = upgrader_behind(t, reader[0]);
	is_before_readers(p, reader);
}

/* The read side stays, and other readers get in again. */
void case_upgrade_gives_up(struct conform *t)
{
	static const int64_t timeouts[] = { 0, 50 };
	dlock_hold *none = NULL, *r, *w;
	struct worker *p, *late;
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	p = join(t, OTHER_CLIENT);
	late = join(t, OTHER_CLIENT);
	ASK_OK(p, READ, patience_ms());
	r = take(upg);
	for (int i = 0; i < 2; i++) {
		CHECK_RC(ask_to_upgrade(upg, r, timeouts[i], &none),
			 DLOCK_EBUSY);
		CHECK(!none);
		CHECK_OK(dlock_check(r));
		ASK_OK(late, READ, patience_ms());
		ASK_OK(late, RELEASE, 0);
		CHECK_INT(ask(late, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	}
	ASK_OK(p, RELEASE, 0);
	w = upgrade(upg, r);
	give(w);
	give(r);
	is_free(t->lock);
}

void case_upgrade_is_cancelled(struct conform *t)
{
	struct worker *reader, *p;

	use_rwlock(t);
	reader = join(t, OTHER_CLIENT);
	p = upgrader_behind(t, reader);
	dlock_cancel(p->executor->upgradeable);
	CHECK_INT(hear(p).rc, ==, DLOCK_ECANCELED);
	ASK_OK(p, CHECK_HOLD, 0);
	ASK_OK(reader, READ, patience_ms());
	ASK_OK(reader, RELEASE, 0);
	ASK_OK(reader, RELEASE, 0);
	ASK_OK(p, UPGRADE, patience_ms());
	refused_shared(t->lock);
}

/* A thread with the write side gets the same hold again, by any handle. */
void case_upgrade_again(struct conform *t)
{
	dlock_hold *r, *w;
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	EACH_WAY(t, p)
	{
		r = take(upg);
		w = upgrade(upg, r);
		CHECK(upgrade(upg, r) == w);
		CHECK(take(t->lock) == w);
		CHECK_INT(dlock_lock_held(t->lock), ==, 4);
		give(w);
		give(w);
		CHECK_INT(ask(p, READ, 0).rc, ==, DLOCK_EBUSY);
		give(w);
		ASK_OK(p, READ, patience_ms());
		ASK_OK(p, RELEASE, 0);
		w = upgrade(upg, r);
		CHECK_INT(ask(p, READ, 0).rc, ==, DLOCK_EBUSY);
		give(w);
		give(r);
		CHECK_INT(dlock_lock_held(t->lock), ==, 0);
	}
}

/* A writer goes on as a plain reader, beside another upgradeable reader. */
void case_upgrade_to_plain_reader(struct conform *t)
{
	dlock_hold *r, *w, *plain;
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	EACH_WAY(t, p)
	{
		r = take(upg);
		w = upgrade(upg, r);
		plain = take_shared(t->lock);
		give(w);
		give(r);
		CHECK_OK(dlock_check(plain));
		ASK_OK(p, UPGRADEABLE, patience_ms());
		CHECK_INT(ask(p, UPGRADE, 0).rc, ==, DLOCK_EBUSY);
		give(plain);
		ASK_OK(p, UPGRADE, patience_ms());
		ASK_OK(p, RELEASE, 0);
		ASK_OK(p, RELEASE, 0);
	}
}

/* A thread with a side of the lock gets EDEADLK instead of a wait for another
 * side. */
void case_upgrade_deadlock(struct conform *t)
{
	dlock_hold *none = NULL, *h, *again;
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	for (int reads = 0; reads < 2; reads++) {
		h = reads ? take_shared(t->lock) : take(t->lock);
		CHECK_RC(dlock_acquire(upg, -1, &none), DLOCK_EDEADLK);
		CHECK_TEXT(dlock_errmsg(), t->name);
		give(h);
	}
	h = take(upg);
	CHECK_RC(dlock_acquire(t->lock, -1, &none), DLOCK_EDEADLK);
	again = take(upg);
	CHECK(again != h);
	CHECK(!none);
	give(again);
	give(h);
	is_free(t->lock);
}
