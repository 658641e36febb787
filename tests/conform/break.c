/* SPDX-License-Identifier: Apache-2.0 */
/* A break: the holder learns of the loss, and the next client gets the lock. */
#include <stdatomic.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "conform/executor.h"

static atomic_int losses;

static dlock_client *watched_client(struct conform *t, const char *params)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;

	opts.on_event = executor_on_event;
	opts.arg = &losses;
	return another_client(t, params, &opts);
}

static int64_t learn(struct conform *t, dlock_lock *victim)
{
	dlock_hold *h = take(victim);
	uint64_t token = dlock_token(h);
	int64_t begun = now_ms();

	atomic_store(&losses, 0);
	CHECK_INT(dlock_hold_fd(h), >=, 0);
	CHECK_OK(dlock_break(t->lock, patience_ms()));
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	begun = now_ms() - begun;
	EVENTUALLY(losses == 1);
	CHECK_INT(dlock_remaining_ms(h), ==, 0);
	CHECK_RC(release(h), DLOCK_ELOST);
	h = take(t->lock);
	CHECK(dlock_token(h) > token || token == 0);
	ALL_ALONG(20, losses == 1);
	CHECK_OK(dlock_check(h));
	give(h);
	return begun;
}

/* The holder learns within a third of the lease, or at once without a lease. */
void case_break_is_learnt(struct conform *t)
{
	static const char *const params[] = { NULL, SHORT_LEASE };

	needs_break(t);
	use_mutex(t);
	for (int i = 0; i < 2; i++) {
		dlock_client *c = watched_client(t, params[i]);
		int64_t third = dlock_ttl_ms(c) / 3;

		if (third < 2000)
			CHECK_WITHIN(learn(t, handle(t, c)),
				     third + 2 * slack_ms());
	}
}

void case_break_wakes(struct conform *t)
{
	dlock_client *c = watched_client(t, SHORT_LEASE);
	dlock_lock *l;

	needs_break(t);
	use_mutex(t);
	l = handle(t, c);
	EACH_WAY(t, p)
	{
		dlock_hold *h = take(l);

		tell(p, ACQUIRE, -1);
		await_waiters(t, 1);
		CHECK_OK(dlock_break(t->lock, patience_ms()));
		HEAR_OK(p);
		EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
		CHECK_RC(release(h), DLOCK_ELOST);
		ASK_OK(p, CHECK_HOLD, 0);
	}
}

void case_break_of_free(struct conform *t)
{
	uint64_t token = 0;

	needs_break(t);
	use_mutex(t);
	for (int i = 0; i < 3; i++) {
		dlock_hold *h;

		CHECK_OK(dlock_break(t->lock, patience_ms()));
		h = take(t->lock);
		CHECK(dlock_token(h) > token || dlock_token(h) == 0);
		token = dlock_token(h);
		give(h);
	}
}

void case_break_other_process(struct conform *t)
{
	struct reply was;
	struct worker *p;
	dlock_hold *h;

	needs_other_processes(t);
	needs_break(t);
	use_mutex(t);
	p = join_with(t, OTHER_PROCESS, SHORT_LEASE);
	was = ask(p, ACQUIRE, patience_ms());
	CHECK_INT(was.rc, ==, DLOCK_OK);
	CHECK_INT(ask(p, READABLE, 0).count, ==, 0);
	CHECK_OK(dlock_break(t->lock, patience_ms()));
	h = take(t->lock);
	CHECK(dlock_token(h) > was.token || was.token == 0);
	EVENTUALLY(ask(p, CHECK_HOLD, 0).rc == DLOCK_ELOST);
	EVENTUALLY(ask(p, LOSSES, 0).count == 1);
	CHECK_INT(ask(p, READABLE, 0).count, ==, 1);
	CHECK_INT(ask(p, RELEASE, 0).rc, ==, DLOCK_ELOST);
	CHECK_OK(dlock_check(h));
	give(h);
}

/* Break two holders of other clients. Each acquires by `op`. */
static void break_two(struct conform *t, enum op op)
{
	struct worker *p[2];

	for (int i = 0; i < 2; i++) {
		p[i] = join_with(t, OTHER_CLIENT, SHORT_LEASE);
		ASK_OK(p[i], op, patience_ms());
	}
	CHECK_OK(dlock_break(t->lock, patience_ms()));
	give(take(t->lock));
	for (int i = 0; i < 2; i++) {
		EVENTUALLY(ask(p[i], CHECK_HOLD, 0).rc == DLOCK_ELOST);
		CHECK_INT(ask(p[i], RELEASE, 0).rc, ==, DLOCK_ELOST);
	}
}

void case_break_readers(struct conform *t)
{
	needs_break(t);
	use_rwlock(t);
	break_two(t, READ);
}

void case_break_permits(struct conform *t)
{
	needs_break(t);
	use_semaphore(t, 2);
	break_two(t, ACQUIRE);
}

/* The release learns of the break from the store: no renewal is due. */
void case_break_seen_by_release(struct conform *t)
{
	dlock_client *c = another_client(t, "ttl=30s", NULL);
	dlock_lock *victim;
	dlock_hold *h, *next;

	needs_break(t);
	use_mutex(t);
	if (dlock_ttl_ms(c) == 0)
		check_skip("claims do not expire, and the store itself tells "
			   "of a loss");
	if (at_once_ms() > 0)
		check_skip("a release does not wait for the answer");
	victim = handle(t, c);
	h = take(victim);
	CHECK_OK(dlock_break(t->lock, patience_ms()));
	CHECK_RC(release(h), DLOCK_ELOST);
	h = take(victim);
	CHECK_OK(dlock_break(t->lock, patience_ms()));
	next = take(t->lock);
	CHECK_RC(release(h), DLOCK_ELOST);
	CHECK_OK(dlock_check(next));
	refused(victim);
	give(next);
}
