/* SPDX-License-Identifier: Apache-2.0 */
/* Waiters that give up while another thread may pass the claim. */
#include "core/base/clock.h"
#include "core/claim.h"
#include "core/passing.h"
#include "support/outcome.h"

#include <poll.h>

TestSuite(pass_end, .init = timed_fixture, .timeout = 120);

/* The store has refused each attempt of the waiter.  The store has the ticket
 * all the same, until the release. */
CASE(pass_end, of_a_waiter_that_the_store_refused_releases_the_ticket)
{
	struct taker t = { 0 };

	given_hold("fakewant:");
	fake_once(fake, FAKE_WATCH, FAKE_REFUSE);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_REFUSE, .unsent = 1,
		    .times = FAKE_ALWAYS);
	wait_here(&t, FOREVER);
	EVENTUALLY(asked() >= 2);
	EVENTUALLY(dlk_now() >= fake_last(fake, FAKE_WATCH).end + 110 * DLK_MS);
	OK(dlock_release(hold));
	has_it(&t);
	cr_assert_eq(stats(client).passed, 1);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	has_had_it(&t);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 2);
	nothing_is_left();
}

enum { MANY = 200 };
static struct taker many[MANY];

CASE(pass_end, of_the_first_of_many_is_no_other_s)
{
	const int n = MANY;
	uint64_t last = 0;
	size_t requests;

	given_hold("fakewant:");
	taker_start(&many[0], lock, 300 * slowness());
	EVENTUALLY(stats(client).waiters == 1);
	for (int i = 1; i < n; i++)
		taker_start(&many[i], lock, FOREVER);
	EVENTUALLY(stats(client).waiters == (uint64_t)n || many[0].done);
	cr_assert_eq(taker_join(&many[0]), DLOCK_EBUSY);
	requests = asked();
	cr_assert_eq(requests, 2);
	EVENTUALLY(stats(client).waiters == (uint64_t)n - 1);
	OK(dlock_release(hold));
	for (int i = 1; i < n; i++) {
		OK(taker_join(&many[i]));
		OK(many[i].release_rc);
		if (many[i].token > last)
			last = many[i].token;
	}
	cr_assert_eq(stats(client).passed, (uint64_t)n - 1);
	cr_assert_eq(asked(), requests);
	cr_assert_eq(fake_last(fake, FAKE_RELEASE).token_used, last);
	nothing_is_left();
}

PEEK(unsigned int, refs_of_hold, dlki_hold_claim(hold)->refs)

/* The waiters need the ticket of the claim ahead, which a renewal has.  The
 * program processes nothing before the descriptor is readable, so the cancel
 * alone wakes the second waiter before a sleep ends by itself. */
CASE(pass_end, of_a_cancelled_wait_awaits_no_renewal)
{
	struct pollfd due = { .events = POLLIN };
	static struct outcome o;
	struct taker t = { 0 };
	dlock_op op;

	given_hold("fakewant:?ttl=3600s&ask=50ms&connect=600s&close=600s");
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1);
	fake_move(fake);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	taker_start(&t, lock, FOREVER);
	EVENTUALLY(refs_of_hold(client) == 3);
	outcomes_process(client);
	op = ask_async(&o, unbound(client, "a"), FOREVER);
	EVENTUALLY(refs_of_hold(client) == 4);
	dlock_cancel(lock);
	EVENTUALLY(atomic_load(&t.done));
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	OK(dlock_cancel_op(client, op));
	due.fd = dlock_client_fd(client);
	cr_assert_eq(poll(&due, 1, DLKI_SLICE_NS / DLK_MS - 1000), 1);
	cr_assert_eq(outcome_of(&o), DLOCK_ECANCELED);
	fake_open_gate(fake);
	OK(dlock_release(hold));
}

/* The renewal and the waiter's own request stay without an answer. */
CASE(pass_end, behind_a_silent_renewal_is_busy)
{
	static struct outcome o;

	given_hold("fakewant:?ttl=3600s&ask=50ms&connect=600s&close=600s");
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1);
	fake_once(fake, FAKE_ATTEMPT, FAKE_SILENT);
	fake_move(fake);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	outcomes_process(client);
	ask_async(&o, unbound(client, "a"), 20);
	cr_assert_eq(outcome_of(&o), DLOCK_EBUSY, "%s", o.text);
	cr_assert_str_eq(o.text,
			 "lock 'a': held by another thread of this process");
	fake_open_gate(fake);
	OK(dlock_release(hold));
}

CASE(pass_end, of_a_waiter_by_a_cancel_asks_nobody)
{
	struct taker t[2] = { { 0 } };
	dlock_lock *own;

	given_hold("fakewant:");
	own = mutex(client, "a");
	wait_in(&t[0], own, FOREVER);
	wait_here(&t[1], FOREVER);
	dlock_cancel(own);
	cr_assert_eq(taker_join(&t[0]), DLOCK_ECANCELED);
	cr_assert_eq(asked(), 1);
	OK(dlock_release(hold));
	has_had_it(&t[1]);
	cr_assert_eq(stats(client).passed, 1);
	nothing_is_left();
}
