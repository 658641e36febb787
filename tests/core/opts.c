/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires with options: how such holds end, and which claims are not taken. */
#include <dlock/async.h>

#include "core/fixture.h"

TestSuite(opts, .init = timed_fixture, .timeout = 60);

static dlock_acquire_options wanted;

static void given_with(const char *uri)
{
	wanted = (dlock_acquire_options)DLOCK_ACQUIRE_OPTIONS_INIT;
	wanted.timeout_ms = 10000;
	keep_diary();
	given_mutex(uri);
}

static dlock_hold *take_so(void)
{
	dlock_hold *h = NULL;

	OK(dlock_acquire_opts(lock, &wanted, &h));
	return h;
}

/* Checks the label that another client sees. */
static void shows(const char *scheme, const char *label)
{
	dlock_client *other = closed_at_end(open_store(scheme, NULL));
	dlock_hold *none;

	REFUSED(dlock_acquire(mutex(other, "a"), 0, &none), DLOCK_EBUSY, label);
}

static void ends_with(const char *why)
{
	EVENTUALLY(diary.losses == 1);
	EVENTUALLY(fake_held(fake) == 0);
	cr_assert_eq(dlock_check(hold), DLOCK_ELOST);
	REFUSED(dlock_release(hold), DLOCK_ELOST, why);
}

/* A renewal under a short lease must not carry the renewals of long leases. */
CASE(opts, lease_of_one_hold_shares_no_renewal_with_others)
{
	dlock_hold *other;

	given_with("fake:?ttl=1500ms");
	wanted.lease_ms = 1490;
	hold = take_so();
	other = take(mutex(client, "b"));
	EVENTUALLY(fake_count(fake, FAKE_RENEW) >= 4);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(fake_nth(fake, FAKE_RENEW, i).n, 1);
	OK(dlock_release(other));
	OK(dlock_release(hold));
}

CASE(opts, no_renew_may_have_an_earlier_end)
{
	given_with("fake:?ttl=30s");
	wanted.no_renew = 1;
	wanted.max_hold_ms = 1000;
	hold = take_so();
	cr_assert_leq(dlock_remaining_ms(hold), 1000);
	ends_with("");
}

CASE(opts, no_renew_is_renewed_behind_it_where_the_store_needs_it)
{
	dlk_time begun;

	given_with("fake:?ttl=600ms");
	wanted.no_renew = 1;
	wanted.lease_ms = 1500;
	begun = dlk_now();
	hold = take_so();
	EVENTUALLY(diary.losses == 1);
	cr_assert_geq(diary.page[diary.n - 1].at, begun + 1500 * DLK_MS);
	cr_assert_geq(fake_count(fake, FAKE_RENEW), 4);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "not to be renewed");
}

CASE(opts, no_renew_ends_it_where_nothing_expires)
{
	given_with("fake:");
	wanted.no_renew = 1;
	INVALID(dlock_acquire_opts(lock, &wanted, &hold),
		"do not end by themselves");
	wanted.lease_ms = 200;
	hold = take_so();
	ends_with("not to be renewed");
}

/* ---- Re-entrancy --------------------------------------------------------- */

CASE(opts, of_a_hold_are_those_of_the_next_acquire_or_none)
{
	dlock_hold *h = NULL;

	given_with("fake:?ttl=30s");
	wanted.max_hold_ms = 20000;
	wanted.label = "x";
	hold = take_so();
	cr_assert_eq(take_so(), hold);
	cr_assert_eq(take(lock), hold);
	wanted.label = "y";
	INVALID(dlock_acquire_opts(lock, &wanted, &h), "with other options");
	wanted.label = NULL;
	wanted.no_renew = 1;
	INVALID(dlock_acquire_opts(lock, &wanted, &h), "with other options");
	cr_assert_null(h);
	for (int i = 0; i < 3; i++)
		OK(dlock_release(hold));
	cr_assert_eq(fake_held(fake), 0);
	hold = take(lock);
	INVALID(dlock_acquire_opts(lock, &wanted, &h), "with other options");
	OK(dlock_release(hold));
}

CASE(opts, of_both_sides_are_the_same)
{
	dlock_hold *r;

	wanted = (dlock_acquire_options)DLOCK_ACQUIRE_OPTIONS_INIT;
	given_rwlock("fake:?ttl=30s");
	wanted.max_hold_ms = 20000;
	hold = take_so();
	wanted.shared = 1;
	OK(dlock_acquire_opts(lock, &wanted, &r));
	cr_assert_neq(r, hold);
	OK(dlock_extend(r, 5000));
	cr_assert_leq(dlock_remaining_ms(hold), 5000);
	OK(dlock_release(hold));
	OK(dlock_release(r));
}

/* ---- Extending ----------------------------------------------------------- */

/* Also an end that no clock shows. */
CASE(opts, extend_moves_any_end)
{
	given_with("fake:?ttl=30s");
	wanted.max_hold_ms = INT64_MAX;
	hold = take_so();
	OK(dlock_extend(hold, INT64_MAX));
	OK(dlock_extend(hold, 50));
	ends_with("max_hold is reached");
}

CASE(opts, of_a_multi_lock_are_those_of_each_member)
{
	dlock_lock *b, *both;
	dlock_hold *h = NULL;

	given_with("fake:?ttl=30s");
	b = mutex(client, "b");
	both = multi((dlock_lock *[]){ lock, b }, 2);
	wanted.max_hold_ms = 20000;
	OK(dlock_acquire_opts(both, &wanted, &hold));
	OK(dlock_extend(hold, 300));
	cr_assert_leq(dlock_remaining_ms(dlock_member(hold, 0)), 300);
	cr_assert_leq(dlock_remaining_ms(dlock_member(hold, 1)), 300);
	EVENTUALLY(diary.losses == 2);
	REFUSED(dlock_extend(hold, 300), DLOCK_ELOST, "was lost");
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	wanted.lease_ms = 60000;
	INVALID(dlock_acquire_opts(both, &wanted, &h), "lease_ms is 60000");
}

/* ---- Passing and keeping ------------------------------------------------- */

CASE(opts, are_known_to_the_store_whatever_is_kept)
{
	given_with("fakewant:?ttl=30s&keep=10s");
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).kept, 1);
	wanted.label = "nightly report";
	hold = take_so();
	shows("fakewant:", "nightly report");
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).kept, 0);
	cr_assert_eq(fake_held(fake), 0);
}

CASE(opts, are_not_passed_on)
{
	struct taker t = { 0 };

	given_with("fakewant:?ttl=30s");
	wanted.max_hold_ms = 15000;
	hold = take_so();
	taker_waits(&t, 10000);
	OK(dlock_release(hold));
	cr_assert_eq(taker_join(&t), DLOCK_OK);
	cr_assert_eq(stats(client).passed, 0);
	cr_assert_gt(t.remaining_ms + stalled_ms(), 15000);
}

/* ---- Asynchronous calls -------------------------------------------------- */

static void note(const struct dlock_result *r, void *arg)
{
	cr_assert_eq(r->code, DLOCK_OK, "%s", r->message);
	*(dlock_hold **)arg = r->hold;
}

CASE(opts, of_asynchronous_calls_are_copied)
{
	char label[] = "a label";
	given_with("fake:?ttl=30s");
	OK(dlock_lock_unbind(lock));
	wanted.max_hold_ms = 20000;
	wanted.label = label;
	fake_occupy(fake, DLK_LOCK, "a", 0);
	OK(dlock_acquire_opts_start(lock, &wanted, note, &hold, NULL));
	label[0] = 'X';
	EVENTUALLY(stats(client).waiters == 1);
	fake_vacate(fake, DLK_LOCK, "a");
	OK(dlock_wait(client, 10000));
	shows("fake:", "a label");
	OK(dlock_extend(hold, 100));
	ends_with("max_hold is reached");
	wanted.lease_ms = -1;
	INVALID(dlock_acquire_opts_start(lock, &wanted, note, &hold, NULL),
		"lease_ms is -1");
}

/* ---- Refusals ------------------------------------------------------------ */

static void refuses(const char *text)
{
	dlock_hold *none = NULL;

	INVALID(dlock_acquire_opts(lock, &wanted, &none), text);
	cr_assert_null(none);
	wanted = (dlock_acquire_options)DLOCK_ACQUIRE_OPTIONS_INIT;
}

CASE(opts, out_of_range_are_refused)
{
	given_with("fake:?ttl=30s");
	wanted.size = 3;
	refuses("DLOCK_ACQUIRE_OPTIONS_INIT");
	wanted.timeout_ms = -2;
	refuses("DLOCK_FOREVER");
	wanted.lease_ms = 9;
	refuses("10 is the least");
	wanted.lease_ms = 30001;
	refuses("the store's lease 30000");
	wanted.max_hold_ms = -1;
	refuses("max_hold_ms is -1");
	wanted.shared = 1;
	refuses("read side");
	wanted.label = "two\nlines";
	refuses("byte 4 of the label is a control character");
	/* An older program has a shorter struct. */
	wanted.size = offsetof(dlock_acquire_options, max_hold_ms);
	wanted.max_hold_ms = -1;
	hold = take_so();
	OK(dlock_release(hold));
	OK(dlock_acquire_opts(lock, NULL, &hold));
	OK(dlock_release(hold));
}
