/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous upgrades. */
#include "core/calls.h"

TestSuite(async_upgrade, .init = timed_fixture, .timeout = 60);

static struct outcome o;
static struct outcome upgrade, reads;

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

/* dlock-loop ends the upgrade, which never had a turn of the async job. */
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

/* The upgrade has asked: others read. */
CASE(async_upgrade, at_a_stuck_store_says_that_the_hold_was_lost)
{
	static struct outcome stuck, o;

	given_reader("fake:?ttl=5s&ask=50ms&close=30s&connect=30s");
	begin(&o, 500);
	EVENTUALLY(stats(client).waiters == 1);
	stick(fake, client, &stuck, FAKE_REFUSE);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, 0).id);
	over(&o, DLOCK_ELOST, "the upgradeable read side was lost");
	fake_open_gate(fake);
	OK(dlock_release(granted(&stuck)));
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	OK(dlock_release(theirs));
}

CASE(async_upgrade, ends_with_a_read_side_that_is_lost)
{
	given_reader("fake:");
	begin(&o, FOREVER);
	EVENTUALLY(stats(client).waiters == 1);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, 1).id);
	cr_assert_eq(outcome_of(&o), DLOCK_ELOST);
	cr_assert_eq(fake_waiting(fake), 0);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	INVALID(dlock_upgrade_start(upg, NULL, 0, outcome_note, &o, NULL),
		"not of an upgradeable read side");
}

/* The gate is lost, of which the upgrade's claim does not know. */
CASE(async_upgrade, is_refused_to_a_hold_that_lost_the_gate_meanwhile)
{
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

/* ---- The release of the read side behind an upgrade on the way out ------- */

/* Makes `hold` an unbound upgradeable reader with the write side. */
static dlock_hold *given_writer(const char *uri)
{
	static struct outcome o;

	given_reader(uri);
	OK(dlock_release(theirs));
	begin(&o, FOREVER);
	OK(outcome_of(&o));
	return o.hold;
}

/* Checks that the store was asked to release the write side, which asked last,
 * and only then the read side. */
static void write_side_was_released_first(void)
{
	uint64_t writes = fake_last(fake, FAKE_ATTEMPT).id;
	uint64_t reads = fake_nth(fake, FAKE_ATTEMPT, 1).id;

	cr_assert_leq(fake_first(fake, FAKE_RELEASE, writes).end,
		      fake_first(fake, FAKE_RELEASE, reads).begin);
	cr_assert_eq(fake_held(fake), 0);
}

/* The async job waits for the answer to the release of the write side. */
CASE(async_upgrade, read_side_waits_no_longer_than_a_release_may)
{
	dlock_hold *w = given_writer("fake:?close=50ms");

	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1, .overrun = 1);
	OK(dlock_release_start(w, NULL, NULL));
	OK(dlock_release(hold));
	cr_assert_eq(fake_held(fake), 1);
	fake_open_gate(fake);
	EVENTUALLY(fake_held(fake) == 0);
}

CASE(async_upgrade, release_is_started_behind_a_cancelled_upgrade)
{
	given_reader("fake:");
	begin(&upgrade, FOREVER);
	EVENTUALLY(stats(client).waiters == 1);
	OK(dlock_cancel_op(client, op));
	give_async(&reads, hold);
	OK(outcome_of(&reads));
	ended_with(&upgrade, DLOCK_ECANCELED);
	cr_assert_eq(fake_held(fake), 1);
	cr_assert_eq(fake_waiting(fake), 0);
	OK(dlock_release(theirs));
}

/* Has the store grant the upgrade, of which the program does not hear yet. */
static void granted_unheard(struct outcome *o)
{
	given_reader("fake:");
	OK(dlock_release(theirs));
	outcomes_leave(client);
	begin(o, FOREVER);
	EVENTUALLY(stats(client).holds == 3);
	EVENTUALLY(dlock_due_ms(client) == 0);
}

static void hear(struct outcome *o, int code)
{
	outcomes_process(client);
	ended_with(o, code);
	cr_assert_eq(dlock_pending(client), 0);
}

CASE(async_upgrade, granted_and_cancelled_goes_with_the_read_side)
{
	granted_unheard(&upgrade);
	INVALID(dlock_release(hold), "write side first");
	OK(dlock_cancel_op(client, op));
	OK(dlock_cancel_op(client, op));
	OK(dlock_release(hold));
	write_side_was_released_first();
	hear(&upgrade, DLOCK_ECANCELED);
	cr_assert_not_null(strstr(upgrade.text, "read side"));
}

/* The answer to the attempt comes behind the cancel. */
CASE(async_upgrade, granted_behind_the_cancel_goes_with_the_read_side)
{
	given_reader("fake:");
	OK(dlock_release(theirs));
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1);
	begin(&upgrade, FOREVER);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 4);
	OK(dlock_cancel_op(client, op));
	give_async(&reads, hold);
	fake_open_gate(fake);
	OK(outcome_of(&reads));
	ended_with(&upgrade, DLOCK_ECANCELED);
	write_side_was_released_first();
}

/* ---- The release beside a thread that hands the upgrade out -------------- */

enum { ROUNDS = 500 };

static atomic_int begun, ready, processed; /* rounds */

static void *process_beside(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		while (atomic_load(&begun) < i)
			sched_yield();
		atomic_store(&ready, i);
		for (volatile int n = i % 100 * 50; n > 0; n--)
			continue;
		(void)dlock_process(client, 0);
		atomic_store(&processed, i);
	}
	return unused;
}

/* Checks that the release was refused, or that nobody has the write side. */
static void release_beside(int i)
{
	int rc;

	memset(&upgrade, 0, sizeof(upgrade));
	memset(&reads, 0, sizeof(reads));
	begin(&upgrade, FOREVER);
	EVENTUALLY(dlock_due_ms(client) == 0);
	OK(dlock_cancel_op(client, op));
	atomic_store(&begun, i);
	while (atomic_load(&ready) < i)
		continue;
	rc = dlock_release_start(hold, outcome_note, &reads);
	while (atomic_load(&processed) < i)
		sched_yield();
	if (rc == DLOCK_OK) {
		outcomes_process(client);
		ended_with(&upgrade, DLOCK_ECANCELED);
		OK(outcome_of(&reads));
		outcomes_leave(client);
		return;
	}
	INVALID(rc, "write side first");
	OK(upgrade.rc);
	OK(dlock_release(upgrade.hold));
	OK(dlock_release(hold));
}

CASE(async_upgrade, handed_out_beside_a_started_release_refuses_that)
{
	pthread_t thread;

	given_reader("fake:");
	OK(dlock_release(theirs));
	OK(dlock_release(hold));
	outcomes_leave(client);
	thread = thread_begin(process_beside, NULL);
	for (int i = 1; i <= ROUNDS; i++) {
		hold = take(upg);
		release_beside(i);
	}
	cr_assert_eq(pthread_join(thread, NULL), 0);
}
