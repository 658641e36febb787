/* SPDX-License-Identifier: Apache-2.0 */
/* The lease of a grant message. */
#include <criterion/criterion.h>

#include "backends/redis/waiters.h"
#include "core/base/clock.h"

enum { LEASE_MS = 1000 };

static struct redis_session session;
static struct redis_ticket ticket;
static dlk_time now;

static dlk_time test_clock(void)
{
	return now;
}

/* BUSY, by an attempt that was written at 5 s; the server said 70 s then. */
static void setup(void)
{
	dlki_clock = test_clock;
	now = 5000 * DLK_MS;
	ticket = (struct redis_ticket){
		.base = { .session = &session.remote.base },
	};
	dlki_redis_waiter_attempt(&ticket);
	ticket.sent = now;
	ticket.busy_clock_us = 70000000;
}

static void pushed_at(uint64_t clock_us)
{
	ticket.pushed.token = 9;
	ticket.pushed.clock_us = clock_us;
	ticket.pushed.lease_ms = LEASE_MS;
}

static void taken_since(int64_t ms)
{
	cr_assert(dlki_redis_waiter_take(&ticket));
	cr_assert_eq(ticket.base.token, 9);
	cr_assert_eq(ticket.base.lease_ms, LEASE_MS);
	cr_assert_eq(ticket.base.since, ms * DLK_MS);
	cr_assert_not(dlki_redis_waiter_take(&ticket), "taken twice");
}

TestSuite(redis_waiters, .init = setup);

Test(redis_waiters, count_from_the_attempt_where_the_server_tells_no_time)
{
	pushed_at(0);
	now = 5400 * DLK_MS;
	taken_since(5000);
	pushed_at(70300000);
	ticket.busy_clock_us = 0;
	taken_since(5000);
}

/* The server's clock was set while the waiter waited. */
Test(redis_waiters, leave_a_grant_from_the_past_or_the_future)
{
	now = 7000 * DLK_MS;
	pushed_at(69999999);
	cr_assert_not(dlki_redis_waiter_take(&ticket));
	pushed_at(72000001);
	cr_assert_not(dlki_redis_waiter_take(&ticket));
	pushed_at(72000000);
	taken_since(7000);
}

/* The answer is under way or lost, so the time of the attempt is unknown. */
Test(redis_waiters, leave_a_grant_of_an_attempt_that_was_not_written)
{
	ticket.sent = 0;
	pushed_at(0);
	cr_assert_not(dlki_redis_waiter_take(&ticket));
}

Test(redis_waiters, are_found_by_the_last_attempt_alone)
{
	uint64_t first = ticket.attempt;

	cr_assert_eq(dlki_redis_waiter_find(&session, first), &ticket);
	pushed_at(70000001);
	dlki_redis_waiter_attempt(&ticket);
	cr_assert_null(dlki_redis_waiter_find(&session, first));
	cr_assert_eq(dlki_redis_waiter_find(&session, ticket.attempt), &ticket);
	cr_assert_eq(ticket.pushed.token, 0, "it was for the first");
	pushed_at(70000001);
	dlki_redis_waiters_void(&session);
	cr_assert_eq(ticket.pushed.token, 0);
	dlki_redis_waiter_forget(&ticket);
	cr_assert_null(dlki_redis_waiter_find(&session, ticket.attempt));
}
