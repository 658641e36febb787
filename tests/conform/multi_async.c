/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls for multi-locks: all members or none, without a waiting
 * thread. */
#include <dlock/async.h>
#include <string.h>

#include "conform/cases.h"
#include "support/outcome.h"

enum { N = 3, MANY = 24 };

/* Unbound mutexes, not sorted by name. */
static void members(struct conform *t, dlock_client *c, dlock_lock *out[N])
{
	static const char *const names[N] = { "conform/n", "conform/b",
					      "conform/y" };

	for (int i = 0; i < N; i++) {
		out[i] = any_lock(t, c, MUTEX, 0, names[i]);
		CHECK_OK(dlock_lock_unbind(out[i]));
	}
}

static void all_free(dlock_lock *const theirs[N])
{
	for (int i = 0; i < N; i++)
		is_free(theirs[i]);
}

/* A release without a callback. */
void case_begun_multi_is_left(struct conform *t)
{
	dlock_lock *mine[N], *theirs[N], *all;

	members(t, t->client, mine);
	members(t, another_client(t, NULL, NULL), theirs);
	all = multi(t, mine, N);
	CHECK_OK(dlock_release_start(take(all), NULL, NULL));
	CHECK_INT(dlock_pending(t->client), ==, 0);
	for (int i = 0; i < N; i++)
		give(take(theirs[i]));
}

/* Only the tries of a waiting multi-lock hold the member for a moment. */
static void is_not_kept(dlock_lock *member)
{
	dlock_hold *h = NULL;

	CHECK_OK(ask_for(member, 0, patience_ms(), &h));
	give(h);
}

void case_begun_multi_is_cancelled(struct conform *t)
{
	dlock_lock *mine[N], *theirs[N], *all;
	struct outcome one = { 0 }, two = { 0 }, three = { 0 };
	dlock_hold *h;
	dlock_op op;

	members(t, t->client, mine);
	members(t, another_client(t, NULL, NULL), theirs);
	all = multi(t, mine, N);
	h = take(theirs[1]);
	op = ask_async(&one, all, -1);
	ask_async(&two, all, patience_ms());
	ask_async(&three, multi(t, mine, N), -1);
	await_waiters(t, 3);
	CHECK_OK(dlock_cancel_op(t->client, op));
	ended_with(&one, DLOCK_ECANCELED);
	CHECK(strstr(one.text, "cancelled") != NULL);
	CHECK_RC(dlock_cancel_op(t->client, op), DLOCK_EINVAL);
	ALL_ALONG(20, outcome_pending(&two) && outcome_pending(&three));
	dlock_cancel(all);
	ended_with(&two, DLOCK_ECANCELED);
	ALL_ALONG(20, outcome_pending(&three));
	is_not_kept(theirs[0]);
	is_not_kept(theirs[2]);
	give(h);
	given_back(granted(&three));
	all_free(theirs);
}

/* Many calls need no more threads than a single call. */
void case_begun_multi_many(struct conform *t)
{
	static struct outcome o[MANY];
	dlock_lock *mine[N], *theirs[N], *all;
	struct census few, now;
	dlock_hold *h;

	members(t, t->client, mine);
	members(t, another_client(t, NULL, NULL), theirs);
	all = multi(t, mine, N);
	h = take(theirs[2]);
	ask_async(&o[0], all, -1);
	await_waiters(t, 1);
	census_take(&few);
	for (int i = 1; i < MANY; i++)
		ask_async(&o[i], all, -1);
	await_waiters(t, MANY);
	census_take(&now);
	CHECK_INT(now.threads, ==, few.threads);
	CHECK_INT(dlock_pending(t->client), ==, MANY);
	dlock_cancel(all);
	for (int i = 0; i < MANY; i++)
		ended_with(&o[i], DLOCK_ECANCELED);
	give(h);
	all_free(theirs);
}

/* Make a multi-lock whose members belong to both clients of `c`. */
static dlock_lock *of_two(struct conform *t, dlock_client *const c[2],
			  const char *name, const char *other)
{
	dlock_lock *m[2] = { any_lock(t, c[0], MUTEX, 0, name),
			     any_lock(t, c[1], MUTEX, 0, other) };

	CHECK_OK(dlock_lock_unbind(m[0]));
	CHECK_OK(dlock_lock_unbind(m[1]));
	return multi(t, m, 2);
}

static void meets_close(struct conform *t, dlock_client *const c[2],
			dlock_client *closes, const char *busy)
{
	struct outcome waits = { 0 }, has = { 0 };
	dlock_lock *theirs = any_lock(t, t->client, MUTEX, 0, busy);
	dlock_hold *h = take(theirs);

	ask_async(&has, of_two(t, c, "conform/p", "conform/q"), -1);
	granted(&has);
	ask_async(&waits, of_two(t, c, "conform/b", "conform/n"), -1);
	await_waiters(t, 1);
	close_client(t, closes);
	if (closes == c[0])
		CHECK_INT(atomic_load(&waits.calls), ==, 1);
	ended_with(&waits, DLOCK_ECANCELED);
	give(h);
	is_free(any_lock(t, t->client, MUTEX, 0, "conform/b"));
	is_free(any_lock(t, t->client, MUTEX, 0, "conform/n"));
	CHECK_RC(dlock_check(has.hold), DLOCK_ELOST);
	CHECK_RC(dlock_release_start(has.hold, NULL, NULL), DLOCK_ECANCELED);
	CHECK_RC(dlock_release(has.hold), DLOCK_ELOST);
}

/* A call ends with the first closed client, whichever client closes, and
 * whichever member the call waits for. */
void case_begun_multi_at_close(struct conform *t)
{
	static const char *const busy[] = { "conform/b", "conform/n" };

	for (int way = 0; way < 6; way++) {
		dlock_client *c[2] = { another_client(t, NULL, NULL) };

		c[1] = way < 4 ? another_client(t, NULL, NULL) : c[0];
		meets_close(t, c, c[way / 2 % 2], busy[way % 2]);
		if (way < 4)
			close_client(t, c[1 - way / 2 % 2]);
	}
}
