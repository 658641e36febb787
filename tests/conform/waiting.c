/* SPDX-License-Identifier: Apache-2.0 */
/* A wait ends by the deadline, or by the grant. */
#include "conform/cases.h"
#include "conform/worker.h"

enum { TIMEOUT_MS = 150 };

/* Wait for the held `lock`, and return how long the wait took. */
static int64_t timed(dlock_lock *lock, int shared)
{
	int64_t begun = now_ms();
	dlock_hold *h = NULL;

	if (shared)
		CHECK_RC(acquire_shared(lock, TIMEOUT_MS, &h), DLOCK_EBUSY);
	else
		CHECK_RC(acquire(lock, TIMEOUT_MS, &h), DLOCK_EBUSY);
	CHECK(!h);
	CHECK_INT(now_ms() - begun, >=, TIMEOUT_MS - 1);
	return now_ms() - begun;
}

static void ends_in_time(struct conform *t, int shared)
{
	EACH_WAY(t, p)
	{
		ASK_OK(p, ACQUIRE, at_once_ms());
		CHECK_WITHIN(timed(t->lock, shared), TIMEOUT_MS + slack_ms());
		ASK_OK(p, RELEASE, 0);
		is_free(t->lock);
	}
}

void case_wait_ends_in_time(struct conform *t)
{
	use_mutex(t);
	ends_in_time(t, 0);
}

void case_wait_reader_ends_in_time(struct conform *t)
{
	use_rwlock(t);
	ends_in_time(t, 1);
}

void case_wait_permit_ends_in_time(struct conform *t)
{
	use_semaphore(t, 1);
	ends_in_time(t, 0);
}

void case_wait_is_granted(struct conform *t)
{
	const int64_t timeouts[] = { patience_ms(), DLOCK_FOREVER, INT64_MAX,
				     INT64_MAX / 1000000 };

	use_mutex(t);
	EACH_WAY(t, p)
	{
		for (int i = 0; i < 4; i++) {
			dlock_hold *h = take(t->lock);

			tell(p, ACQUIRE, timeouts[i]);
			await_waiters(t, 1);
			ALL_ALONG(10, quiet(p));
			give(h);
			HEAR_OK(p);
			refused(t->lock);
			ASK_OK(p, RELEASE, 0);
		}
	}
}

/* A wait that has ended blocks no later waiter. Return whether both were seen
 * waiting: on a busy machine the first may end before. */
static int leaves_the_line(struct conform *t, struct worker *p,
			   struct worker *behind, int64_t timeout_ms)
{
	dlock_hold *h = take(t->lock);
	int seen;

	tell(p, ACQUIRE, timeout_ms);
	seen = comes_to_wait(t, p, 1);
	tell(behind, ACQUIRE, -1);
	seen = seen && comes_to_wait(t, p, 2);
	CHECK_INT(hear(p).rc, ==, DLOCK_EBUSY);
	CHECK(quiet(behind));
	give(h);
	HEAR_OK(behind);
	ASK_OK(behind, RELEASE, 0);
	return seen;
}

void case_wait_leaves_the_line(struct conform *t)
{
	use_mutex(t);
	EACH_WAY(t, p)
	{
		struct worker *behind = join(t, OTHER_CLIENT);
		int64_t timeout_ms = TIMEOUT_MS;

		while (!leaves_the_line(t, p, behind, timeout_ms)) {
			CHECK_INT(timeout_ms, <, patience_ms());
			timeout_ms *= 2;
		}
		leave(t, behind);
	}
}

/* The waiters come in the order of the ways, or in reverse. */
static void all_get_their_turn(struct conform *t, int upwards)
{
	struct worker *p[8];
	dlock_hold *h;
	unsigned int n = 0;

	h = take(t->lock);
	for (int i = 0; i < 8; i++) {
		p[n] = join(t, (enum way)(upwards ? i % WAYS : 3 - i % WAYS));
		if (!p[n])
			continue;
		tell(p[n++], ACQUIRE, -1);
		await_waiters(t, n);
	}
	give(h);
	for (unsigned int i = 0; i < n; i++) {
		HEAR_OK(p[i]);
		for (unsigned int k = i + 1; k < n; k++)
			CHECK(quiet(p[k]));
		ASK_OK(p[i], RELEASE, 0);
	}
	for (unsigned int i = 0; i < n; i++)
		leave(t, p[i]);
}

void case_wait_fair(struct conform *t)
{
	use_mutex(t);
	all_get_their_turn(t, 0);
	all_get_their_turn(t, 1);
}

/* Return whether `p` is granted before `behind`, after both have waited longer
 * than the lease of `p`. */
static int keeps_its_place(struct conform *t, struct worker *p,
			   struct worker *behind, int64_t lease_ms)
{
	dlock_hold *h = take(t->lock);
	struct worker *in_order[2] = { p, behind };
	int first;

	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	tell(behind, ACQUIRE, -1);
	await_waiters(t, 2);
	ALL_ALONG(lease_ms + 300, quiet(p) && quiet(behind));
	give(h);
	EVENTUALLY(!quiet(p) || !quiet(behind));
	first = quiet(behind);
	for (int i = 0; i < 2; i++) {
		struct worker *next = in_order[first ? i : 1 - i];

		HEAR_OK(next);
		(void)ask(next, RELEASE, 0); /* a short lease may be over */
	}
	return first;
}

/* On a busy machine a waiter may stand still for longer than the lease, and
 * lose the place in the queue: then repeat. */
void case_wait_outlasts_lease(struct conform *t)
{
	enum { MOST_MS = 1000, ROUNDS = 3 };
	struct worker *p, *behind;
	int64_t lease_ms;
	int kept = 0;

	use_mutex(t);
	p = join_with(t, OTHER_CLIENT, "ttl=600ms");
	lease_ms = dlock_ttl_ms(p->client);
	if (lease_ms == 0)
		check_skip("claims do not expire");
	if (lease_ms > MOST_MS)
		check_skip("a lease lasts too long to be outlasted");
	behind = join(t, OTHER_CLIENT);
	for (int i = 0; i < ROUNDS && !kept; i++)
		kept = keeps_its_place(t, p, behind, lease_ms);
	if (!kept)
		FAIL("a waiter lost its place after a lease of %lld ms",
		     (long long)lease_ms);
}
