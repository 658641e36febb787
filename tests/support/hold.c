/* SPDX-License-Identifier: Apache-2.0 */
#include "support/hold.h"

#include "support/check.h"

static dlock_hold *checked(dlock_hold *h)
{
	CHECK(h);
	CHECK(dlock_token(h) > 0 || dlock_member(h, 0));
	return h;
}

dlock_hold *take_within(dlock_lock *lock, int64_t timeout_ms)
{
	dlock_hold *h = NULL;

	CHECK_OK(dlock_acquire(lock, timeout_ms, &h));
	return checked(h);
}

dlock_hold *take_shared(dlock_lock *lock, int64_t timeout_ms)
{
	dlock_hold *h = NULL;

	CHECK_OK(dlock_acquire_shared(lock, timeout_ms, &h));
	return checked(h);
}

void give(dlock_hold *hold)
{
	CHECK_OK(dlock_release(hold));
}

uint64_t taken(dlock_lock *lock)
{
	dlock_hold *h = take(lock);
	uint64_t token = dlock_token(h);

	give(h);
	return token;
}

void drop_hold(dlock_hold *hold)
{
	CHECK_RC(dlock_release(hold), DLOCK_ELOST);
}

struct dlock_stats stats(dlock_client *client)
{
	struct dlock_stats s = { .size = sizeof(s) };

	CHECK_OK(dlock_get_stats(client, &s));
	return s;
}

void count_participant(const struct dlock_participant *p, void *arg)
{
	(void)p;
	++*(int *)arg;
}

void count_entry(const struct dlock_lock_info *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}
