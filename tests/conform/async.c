/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls wait for a lock as threads do, but need no thread each. */
#include <dlock/async.h>
#include <string.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "support/outcome.h"

enum { MANY = 64 };

static void refused_with(struct outcome *o, int code, const char *text)
{
	ended_with(o, code);
	CHECK(strstr(o->text, text) != NULL);
}

/* Return the index of a granted call among `n`. */
static int next_granted(struct outcome *o, int n)
{
	int64_t end = now_ms() + patience_ms();

	while (now_ms() < end) {
		for (int i = 0; i < n; i++) {
			if (!outcome_pending(&o[i]) && o[i].hold)
				return i;
		}
		nap_us(200);
	}
	FAIL("no call is granted");
	return -1;
}

/* Grant each call in turn, alone; in call order if the store is fair. */
static void served(const struct conform *t, struct outcome *o, int n)
{
	for (int k = 0; k < n; k++) {
		int i = next_granted(o, n);
		dlock_hold *h = granted(&o[i]);

		CHECK(!(t->caps & DLOCK_CAP_FAIR) || i == k);
		o[i].hold = NULL;
		for (int j = 0; j < n; j++)
			CHECK(outcome_pending(&o[j]) || !o[j].hold);
		given_back(h);
	}
}

/* A waiting thread and a waiting call stand in the same wait queue. */
void case_async_among_threads(struct conform *t)
{
	struct worker *before, *behind;
	struct outcome o = { 0 };
	dlock_hold *h;

	use_unbound(t);
	before = join(t, OTHER_HANDLE);
	behind = join(t, OTHER_CLIENT);
	h = take(t->lock);
	tell(before, ACQUIRE, -1);
	await_waiters(t, 1);
	ask_async(&o, t->lock, -1);
	await_waiters(t, 2);
	tell(behind, ACQUIRE, -1);
	await_waiters(t, 3);
	give(h);
	if (!(t->caps & DLOCK_CAP_FAIR)) {
		tell(before, RELEASE, 0);
		tell(behind, RELEASE, 0);
		given_back(granted(&o));
		for (int i = 0; i < 2; i++) {
			HEAR_OK(before);
			HEAR_OK(behind);
		}
	} else {
		HEAR_OK(before);
		CHECK(outcome_pending(&o));
		ASK_OK(before, RELEASE, 0);
		given_back(granted(&o));
		HEAR_OK(behind);
		ASK_OK(behind, RELEASE, 0);
	}
	leave(t, before);
	leave(t, behind);
	is_free(t->lock);
}

void case_async_is_cancelled(struct conform *t)
{
	struct outcome one = { 0 }, two = { 0 }, three = { 0 };
	dlock_op op;
	dlock_hold *h;

	use_unbound(t);
	h = take(unbound(t, another_client(t, NULL, NULL)));
	op = ask_async(&one, t->lock, -1);
	ask_async(&two, t->lock, -1);
	ask_async(&three, unbound(t, t->client), -1);
	await_waiters(t, 3);
	CHECK_OK(dlock_cancel_op(t->client, op));
	refused_with(&one, DLOCK_ECANCELED, "cancelled");
	CHECK_RC(dlock_cancel_op(t->client, op), DLOCK_EINVAL);
	CHECK_RC(dlock_cancel_op(t->client, 0), DLOCK_EINVAL);
	CHECK_RC(dlock_cancel_op(t->client, op + 100), DLOCK_EINVAL);
	ALL_ALONG(20, outcome_pending(&two) && outcome_pending(&three));
	dlock_cancel(t->lock);
	refused_with(&two, DLOCK_ECANCELED, "cancelled");
	ALL_ALONG(20, outcome_pending(&three));
	/* A stale entry in the wait queue would be granted now. */
	give(h);
	given_back(granted(&three));
	is_free(t->lock);
}

/* The cancel meets the grant: the call ends held or cancelled. */
void case_async_cancel_meets_grant(struct conform *t)
{
	dlock_lock *other;

	use_unbound(t);
	other = unbound(t, another_client(t, NULL, NULL));
	for (int i = 0; i < 24; i++) {
		struct outcome o = { 0 };
		dlock_hold *h = take(other);
		dlock_op op = ask_async(&o, t->lock, -1);

		await_waiters(t, 1);
		give(h);
		nap_us(i * 40);
		/* The callback is due only in outcome_of(), so the op
		 * exists. */
		CHECK_OK(dlock_cancel_op(t->client, op));
		if (outcome_of(&o) == DLOCK_OK)
			given_back(o.hold);
		else
			CHECK_INT(o.rc, ==, DLOCK_ECANCELED);
		is_free(other);
	}
}

/* Many calls need no more threads than a single call. */
void case_async_many(struct conform *t)
{
	static struct outcome o[MANY];
	struct census few;
	dlock_lock *other;
	dlock_hold *h;

	use_unbound(t);
	other = unbound(t, another_client(t, NULL, NULL));
	h = take(other);
	ask_async(&o[0], t->lock, -1);
	await_waiters(t, 1);
	census_take(&few);
	for (int i = 1; i < MANY; i++)
		ask_async(&o[i], i % 2 ? t->lock : unbound(t, t->client), -1);
	await_waiters(t, MANY);
	census_same(&few);
	give(h);
	served(t, o, MANY);
	is_free(other);
}

/* Release the upgradeable hold by either function. */
static void release_by(int started, dlock_hold *reads)
{
	if (started)
		given_back(reads);
	else
		CHECK_OK(dlock_release(reads));
}

/* The release of the read side waits for an upgrade that is on the way out: its
 * own release is started, or it is cancelled. */
void case_async_release_behind_an_upgrade(struct conform *t)
{
	dlock_lock *upg;

	use_rwlock(t);
	CHECK_OK(dlock_lock_unbind(t->lock));
	upg = upgradeable(t, t->lock);
	for (int started = 0; started < 2; started++) {
		struct worker *p = join(t, OTHER_CLIENT);
		struct outcome begun = { 0 };
		dlock_hold *reads = take(upg);
		dlock_op op;

		CHECK_OK(dlock_release_start(upgrade(upg, reads), NULL, NULL));
		release_by(started, reads);
		ASK_OK(p, ACQUIRE, at_once_ms());
		ASK_OK(p, RELEASE, 0);
		ASK_OK(p, READ, at_once_ms());
		reads = take(upg);
		CHECK_OK(dlock_upgrade_start(upg, reads, -1, outcome_note,
					     &begun, &op));
		await_waiters(t, 1);
		CHECK_OK(dlock_cancel_op(t->client, op));
		release_by(started, reads);
		ended_with(&begun, DLOCK_ECANCELED);
		ASK_OK(p, RELEASE, 0);
		ASK_OK(p, ACQUIRE, at_once_ms());
		leave(t, p);
	}
}
