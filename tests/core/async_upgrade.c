/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous upgrades. */
#include "core/calls.h"

TestSuite(async_upgrade, .init = timed_fixture, .timeout = 60);

static dlock_lock *upg;
static dlock_hold *theirs; /* of a plain reader */
static dlock_op op;

/* Makes `hold` an unbound upgradeable reader, and `theirs` a plain reader. */
static void given_reader(const char *uri)
{
	given_rwlock(uri);
	OK(dlock_lock_unbind(lock));
	upg = upgradeable(lock);
	hold = take(upg);
	theirs = take_shared(lock, 0);
	outcomes_process(client);
}

static void begin(struct outcome *o, int64_t timeout_ms)
{
	OK(dlock_upgrade_start(upg, hold, timeout_ms, outcome_note, o, &op));
}

/* Checks that the read side stands, and can be upgraded again. */
static void read_side_is_whole(void)
{
	static struct outcome again;

	OK(dlock_check(hold));
	OK(dlock_release(theirs));
	begin(&again, FOREVER);
	OK(outcome_of(&again));
	OK(dlock_release(again.hold));
	OK(dlock_release(hold));
	cr_assert_eq(fake_held(fake), 0);
}

CASE(async_upgrade, waits_for_readers_and_keeps_the_read_side)
{
	static struct outcome o;

	given_reader("fake:");
	begin(&o, FOREVER);
	EVENTUALLY(stats(client).waiters == 1);
	REFUSED(dlock_release(hold), DLOCK_EINVAL, "write side first");
	REFUSED(dlock_release_start(hold, NULL, NULL), DLOCK_EINVAL,
		"write side first");
	cr_assert(outcome_pending(&o));
	OK(dlock_release(theirs));
	OK(outcome_of(&o));
	cr_assert_gt(dlock_token(o.hold), dlock_token(hold));
	REFUSED(dlock_release(hold), DLOCK_EINVAL, "write side first");
	OK(dlock_release(o.hold));
	OK(dlock_release(hold));
	cr_assert_eq(fake_held(fake), 0);
}

/* dlock-loop ends the upgrade, which never had a turn of the async thread. */
CASE(async_upgrade, at_a_stuck_store_leaves_the_read_side)
{
	static struct outcome stuck, o;

	given_reader("fake:?ask=50ms&close=30s&connect=30s");
	stick(fake, client, &stuck, FAKE_REFUSE);
	begin(&o, 20);
	cr_assert_eq(outcome_of(&o), DLOCK_EUNREACHABLE);
	fake_open_gate(fake);
	OK(outcome_of(&stuck));
	OK(dlock_release(stuck.hold));
	read_side_is_whole();
}

CASE(async_upgrade, ends_with_a_read_side_that_is_lost)
{
	static struct outcome o;

	given_reader("fake:?ttl=900ms");
	begin(&o, FOREVER);
	EVENTUALLY(stats(client).waiters == 1);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, 1).id);
	cr_assert_eq(outcome_of(&o), DLOCK_ELOST);
	cr_assert_eq(fake_waiting(fake), 0);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	REFUSED(dlock_upgrade_start(upg, NULL, 0, outcome_note, &o, NULL),
		DLOCK_EINVAL, "not of an upgradeable read side");
}

/* The gate is lost, of which the upgrade's claim does not know. */
CASE(async_upgrade, is_refused_to_a_hold_that_lost_the_gate_meanwhile)
{
	static struct outcome o;

	given_reader("fake:?ttl=5s");
	begin(&o, FOREVER);
	EVENTUALLY(stats(client).waiters == 1);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, 0).id);
	EVENTUALLY(stats(client).lost == 1);
	OK(dlock_release(theirs));
	cr_assert_eq(outcome_of(&o), DLOCK_ELOST);
	cr_assert_null(o.hold);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	EVENTUALLY(fake_held(fake) == 0);
}

CASE(async_upgrade, of_a_lost_hold_is_over_in_time)
{
	static struct outcome o;
	struct fake_call attempt;

	given_reader("fake:?ttl=5s&ask=20s&close=90s");
	begin(&o, 40000);
	EVENTUALLY(stats(client).waiters == 1);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, 0).id);
	EVENTUALLY(stats(client).lost == 1);
	OK(dlock_release(theirs));
	cr_assert_eq(outcome_of(&o), DLOCK_ELOST);
	attempt = fake_last(fake, FAKE_ATTEMPT);
	cr_assert_leq(fake_first(fake, FAKE_RELEASE, attempt.id).deadline,
		      attempt.begin + 60000 * DLK_MS);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

CASE(async_upgrade, that_waits_ends_when_the_client_is_closed)
{
	static struct outcome o;

	given_reader("fake:");
	begin(&o, FOREVER);
	EVENTUALLY(stats(client).waiters == 1);
	outcomes_leave(client);
	close_client();
	cr_assert_eq(outcome_of(&o), DLOCK_ECANCELED);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(fake_waiting(fake), 0);
}

CASE(async_upgrade, bad_arguments_are_refused)
{
	static struct outcome o;

	given_rwlock("fake:");
	upg = upgradeable(lock);
	hold = take(upg);
	REFUSED(dlock_upgrade_start(upg, hold, 0, outcome_note, &o, NULL),
		DLOCK_EINVAL, "dlock_lock_unbind");
	REFUSED(dlock_upgrade_start(upg, hold, 0, NULL, &o, NULL), DLOCK_EINVAL,
		"done is NULL");
	REFUSED(dlock_upgrade_start(lock, hold, 0, outcome_note, &o, NULL),
		DLOCK_EINVAL, "not of dlock_upgradeable_new");
	OK(dlock_release(hold));
	OK(dlock_lock_unbind(lock));
	upg = upgradeable(lock);
	hold = take(upg);
	REFUSED(dlock_upgrade_start(upg, hold, -2, outcome_note, &o, NULL),
		DLOCK_EINVAL, "timeout");
	OK(dlock_release(hold));
	cr_assert(outcome_pending(&o));
}
