/* SPDX-License-Identifier: Apache-2.0 */
/* A client that learns of other clients' requests passes a lock among threads,
 * and keeps the lock while no other client asks. */
#include <string.h>

#include "conform/cases.h"
#include "conform/worker.h"

enum { KEEP_MS = 10000, ROUNDS = 20 };

static const char keep[] = "keep=10s";

/* ---- Kept ---------------------------------------------------------------- */

/* Open a client that keeps the released lock. */
static dlock_client *that_keeps(struct conform *t, dlock_lock **lock)
{
	dlock_client *c = another_client(t, keep, NULL);

	*lock = handle(t, c);
	give(take(*lock));
	CHECK_INT(stats_of(c).kept, ==, 1);
	return c;
}

void case_wanted_kept_is_taken_again(struct conform *t)
{
	uint64_t last = 0, attempts;
	dlock_client *c;
	dlock_lock *l;

	use_mutex(t);
	c = that_keeps(t, &l);
	attempts = stats_of(c).attempts;
	for (int i = 0; i < ROUNDS; i++) {
		dlock_hold *h = take(l);

		CHECK(!(t->caps & FENCE) || dlock_token(h) > last);
		last = dlock_token(h);
		CHECK_RC(dlock_check(h), DLOCK_OK);
		give(h);
	}
	CHECK_INT(stats_of(c).attempts, ==, attempts);
	CHECK_INT(stats_of(c).retaken, ==, ROUNDS);
	CHECK_INT(stats_of(c).kept, ==, 1);
}

/* Return how long another client waits for a kept lock. */
static int64_t recall(struct conform *t, enum way way)
{
	struct worker *p = join(t, way);
	dlock_client *c;
	dlock_lock *l;
	struct reply r;
	uint64_t last;

	if (!p)
		return 0;
	c = another_client(t, keep, NULL);
	l = handle(t, c);
	for (int i = 0; i < 3; i++) {
		dlock_hold *h = take(l);

		last = dlock_token(h);
		give(h);
	}
	r = ask(p, ACQUIRE, -1);
	CHECK_INT(r.rc, ==, DLOCK_OK);
	CHECK(!(t->caps & FENCE) || r.token > last);
	CHECK_INT(stats_of(c).kept, ==, 0);
	refused(l);
	ASK_OK(p, RELEASE, 0);
	is_free(l);
	leave(t, p);
	close_client(t, c);
	return r.took_ms;
}

void case_wanted_kept_is_given_up(struct conform *t)
{
	use_mutex(t);
	CHECK_WITHIN(recall(t, OTHER_CLIENT), KEEP_MS / 4);
	CHECK_WITHIN(recall(t, OTHER_PROCESS), KEEP_MS / 4);
}

/* The first try finds the lock busy, but makes the client give the lock up. */
void case_wanted_by_a_try(struct conform *t)
{
	dlock_hold *h = NULL;
	dlock_client *c;
	dlock_lock *l;
	int64_t begun;

	use_mutex(t);
	c = that_keeps(t, &l);
	begun = now_ms();
	EVENTUALLY(ask_for(t->lock, 0, 0, &h) == DLOCK_OK);
	CHECK_INT(now_ms() - begun, <=, KEEP_MS / 2);
	CHECK_INT(stats_of(c).kept, ==, 0);
	give(h);
}

void case_wanted_kept_at_close(struct conform *t)
{
	dlock_client *c;
	dlock_lock *l;

	use_mutex(t);
	c = that_keeps(t, &l);
	close_client(t, c);
	is_free(t->lock);
}

/* Kill the client of a kept lock: the lock is free when the lease ends. */
static int64_t inherit(struct conform *t)
{
	struct worker *victim = join_with(t, OTHER_PROCESS,
					  SHORT_LEASE "&keep=750ms");
	struct worker *heir = join(t, OTHER_CLIENT);
	struct reply was = ask(victim, ACQUIRE, patience_ms());
	struct reply next;

	CHECK_INT(was.rc, ==, DLOCK_OK);
	ASK_OK(victim, RELEASE, 0);
	bury(t, victim);
	next = ask(heir, ACQUIRE, -1);
	CHECK_INT(next.rc, ==, DLOCK_OK);
	CHECK(!(t->caps & FENCE) || next.token > was.token);
	leave(t, heir);
	return next.took_ms;
}

void case_wanted_kept_at_death(struct conform *t)
{
	needs_other_processes(t);
	use_short_lease(t);
	use_mutex(t);
	CHECK_WITHIN(inherit(t), promised_ms(t));
}

/* A reader of the same client does not wait for the end of keep=. */
void case_wanted_by_a_reader(struct conform *t)
{
	dlock_hold *h = NULL;
	dlock_client *c;
	dlock_lock *l;
	int64_t begun;

	use_rwlock(t);
	c = that_keeps(t, &l);
	begun = now_ms();
	CHECK_RC(ask_for(l, 1, patience_ms(), &h), DLOCK_OK);
	CHECK_INT(now_ms() - begun, <=, KEEP_MS / 2);
	CHECK_INT(stats_of(c).kept, ==, 0);
	give(h);
	give(take(l));
}

/* ---- Passed -------------------------------------------------------------- */

/* Waiters of the holder's client get the lock in the order of the calls,
 * without requests. */
void case_wanted_passes(struct conform *t)
{
	struct worker *p[6];
	uint64_t last;
	dlock_hold *h;

	use_mutex(t);
	h = take(t->lock);
	last = dlock_token(h);
	for (unsigned int i = 0; i < 6; i++) {
		p[i] = join(t, i % 2 ? SAME_HANDLE : OTHER_HANDLE);
		tell(p[i], ACQUIRE, -1);
		await_waiters(t, i + 1);
	}
	give(h);
	for (int i = 0; i < 6; i++) {
		struct reply r = hear(p[i]);

		CHECK_INT(r.rc, ==, DLOCK_OK);
		CHECK(!(t->caps & FENCE) || r.token > last);
		last = r.token;
		refused(t->lock);
		ASK_OK(p[i], RELEASE, 0);
	}
	CHECK_INT(stats_of(t->client).passed, ==, 6);
	is_free(t->lock);
	h = take(t->lock);
	CHECK(!(t->caps & FENCE) || dlock_token(h) > last);
	give(h);
}

/* Threads pass the lock among themselves; another client gets a share all the
 * same. */
void case_wanted_starves_nobody(struct conform *t)
{
	struct worker *p[4];

	use_mutex(t);
	for (int i = 0; i < 4; i++) {
		p[i] = join(t, i < 3 ? SAME_HANDLE : OTHER_CLIENT);
		tell(p[i], WORK, 300);
	}
	for (int i = 0; i < 4; i++)
		CHECK_INT(hear(p[i]).count, >, 0);
}
