/* SPDX-License-Identifier: Apache-2.0 */
/* Many readers, or a single writer. */
#include "conform/cases.h"
#include "conform/worker.h"

static struct worker *join_any(struct conform *t, int i)
{
	struct worker *p = join(t, (enum way)(i % WAYS));

	return p ? p : join(t, OTHER_CLIENT);
}

void case_rwlock_readers_share(struct conform *t)
{
	struct worker *p[8];
	dlock_hold *h;

	use_rwlock(t);
	h = take_shared(t->lock);
	for (int i = 0; i < 8; i++) {
		p[i] = join_any(t, i);
		ASK_OK(p[i], READ, 0);
	}
	for (int i = 0; i < 8; i++) {
		ASK_OK(p[i], CHECK_HOLD, 0);
		ASK_OK(p[i], RELEASE, 0);
	}
	give(h);
	is_free(t->lock);
}

void case_rwlock_writer_excludes(struct conform *t)
{
	use_rwlock(t);
	EACH_WAY(t, p)
	{
		dlock_hold *h = take(t->lock);

		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		CHECK_INT(ask(p, READ, 0).rc, ==, DLOCK_EBUSY);
		tell(p, READ, -1);
		await_waiters(t, 1);
		ALL_ALONG(10, quiet(p));
		give(h);
		HEAR_OK(p);
		ASK_OK(p, RELEASE, 0);
	}
}

void case_rwlock_writer_waits(struct conform *t)
{
	use_rwlock(t);
	EACH_WAY(t, p)
	{
		struct worker *reader = join(t, OTHER_CLIENT);
		dlock_hold *h = take_shared(t->lock);

		ASK_OK(reader, READ, 0);
		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		tell(p, ACQUIRE, -1);
		await_waiters(t, 1);
		give(h);
		ALL_ALONG(10, quiet(p));
		ASK_OK(reader, RELEASE, 0);
		HEAR_OK(p);
		refused_shared(t->lock);
		leave(t, reader);
	}
}

void is_before_readers(struct worker *waiter, struct worker *reader[2])
{
	enum { COME = 40 };
	int i;

	for (i = 0; i < COME && quiet(waiter); i++) {
		struct reply r = ask(reader[(i + 1) % 2], READ, 20);

		/* The next reader comes before the last reader goes, unless the
		 * waiter is next. */
		ASK_OK(reader[i % 2], RELEASE, 0);
		if (r.rc == DLOCK_OK)
			continue;
		CHECK_INT(r.rc, ==, DLOCK_EBUSY);
		break;
	}
	if (i == COME)
		FAIL("%d readers were let in before who waited", i);
	HEAR_OK(waiter);
}

void case_rwlock_writer_not_starved(struct conform *t)
{
	struct worker *reader[2], *writer;

	use_rwlock(t);
	reader[0] = join(t, OTHER_CLIENT);
	reader[1] = join(t, OTHER_CLIENT);
	writer = join(t, OTHER_CLIENT);
	ASK_OK(reader[0], READ, 0);
	tell(writer, ACQUIRE, -1);
	await_waiters(t, 1);
	is_before_readers(writer, reader);
}

/* A reader may read again while a writer waits; else both would wait for
 * ever. */
void case_rwlock_read_again(struct conform *t)
{
	use_rwlock(t);
	EACH_WAY(t, p)
	{
		dlock_hold *h = take_shared(t->lock);

		tell(p, ACQUIRE, -1);
		await_waiters(t, 1);
		CHECK(take_shared(t->lock) == h);
		give(h);
		ALL_ALONG(10, quiet(p));
		CHECK_OK(dlock_check(h));
		give(h);
		HEAR_OK(p);
	}
}

void case_rwlock_upgrade(struct conform *t)
{
	static const int64_t timeouts[] = { 0, 50, -1 };

	use_rwlock(t);
	for (int i = 0; i < 3; i++) {
		dlock_hold *h = take_shared(t->lock);
		dlock_hold *none = NULL;

		CHECK_RC(acquire(t->lock, timeouts[i], &none), DLOCK_EDEADLK);
		CHECK_TEXT(face_errmsg(), t->name);
		CHECK(!none);
		CHECK_OK(dlock_check(h));
		EACH_WAY(t, p)
		{
			CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
			ASK_OK(p, READ, 0);
		}
		give(h);
	}
	is_free(t->lock);
}

static void note_shared(const struct dlock_participant *participant, void *arg)
{
	if (!participant->waiting && participant->shared)
		*(int *)arg = 1;
}

/* Return whether other readers are let in. A store may downgrade the claim, or
 * keep the writer's claim until both sides are released; an inspection tells
 * which. */
static int readers_may_join(struct conform *t)
{
	int shared = 0;

	if (t->caps & DLOCK_CAP_INSPECT)
		CHECK_OK(dlock_inspect(t->lock, note_shared, &shared,
				       patience_ms()));
	return shared;
}

void case_rwlock_downgrade(struct conform *t)
{
	use_rwlock(t);
	EACH_WAY(t, p)
	{
		struct worker *early = join(t, OTHER_CLIENT);
		dlock_hold *w = take(t->lock);
		dlock_hold *r = take_shared(t->lock);

		tell(early, READ, -1);
		await_waiters(t, 1);
		CHECK_INT(ask(p, READ, 0).rc, ==, DLOCK_EBUSY);
		give(w);
		CHECK_OK(dlock_check(r));
		if (readers_may_join(t)) {
			HEAR_OK(early); /* woken by the downgrade */
			CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
			ASK_OK(p, READ, patience_ms());
			ASK_OK(p, RELEASE, 0);
			ASK_OK(early, RELEASE, 0);
			CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
			give(r);
		} else {
			CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
			ALL_ALONG(10, quiet(early));
			give(r);
			HEAR_OK(early);
			ASK_OK(early, RELEASE, 0);
		}
		ASK_OK(p, ACQUIRE, patience_ms());
		leave(t, early);
	}
}

/* A revocable holder's claim has a range of tokens. Readers that join a
 * downgraded claim have tokens, too. */
void case_rwlock_downgrade_token(struct conform *t)
{
	use_rwlock(t);
	EACH_WAY(t, p)
	{
		dlock_hold *w = take(t->lock);
		dlock_hold *r;
		struct reply reader, writer;
		int joins;

		CHECK_OK(dlock_revocable(w));
		r = take_shared(t->lock);
		give(w);
		joins = readers_may_join(t);
		if (!joins)
			give(r);
		reader = ask(p, READ, patience_ms());
		CHECK_INT(reader.rc, ==, DLOCK_OK);
		if (joins)
			give(r);
		ASK_OK(p, RELEASE, 0);
		writer = ask(p, ACQUIRE, patience_ms());
		CHECK_INT(writer.rc, ==, DLOCK_OK);
		CHECK(writer.token > reader.token);
		ASK_OK(p, RELEASE, 0);
	}
}

/* A writer may also read, and release in either order. */
void case_rwlock_both_sides(struct conform *t)
{
	use_rwlock(t);
	EACH_WAY(t, p)
	{
		for (int read_first = 0; read_first < 2; read_first++) {
			dlock_hold *w = take(t->lock);
			dlock_hold *r = take_shared(t->lock);

			CHECK(dlock_token(w) == dlock_token(r));
			CHECK(take(t->lock) == w);
			give(w);
			CHECK(take_shared(t->lock) == r);
			give(r);
			give(read_first ? r : w);
			CHECK_OK(dlock_check(read_first ? w : r));
			CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
			if (read_first)
				CHECK_INT(ask(p, READ, 0).rc, ==, DLOCK_EBUSY);
			give(read_first ? w : r);
			ASK_OK(p, ACQUIRE, patience_ms());
			ASK_OK(p, RELEASE, 0);
		}
	}
}
