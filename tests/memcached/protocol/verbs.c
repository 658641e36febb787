/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts, renewals and releases of the memcached protocol, byte by byte. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/memcached/protocol/rig.h"

TestSuite(memcached_verbs, .init = rig_up, .fini = rig_end);

#define RENEWED "dlock1 " RIG_OWNER " 1700000003000005 2 me"
#define WAITS "dlock1 " RIG_OWNER " 1700000003000005 1 me"
#define CAS(n, text) "cas " RIG_KEY " 0 13 61 " n "\r\n" text "\r\n"

static void expect_answered(int i, int stood)
{
	cr_assert_eq(rig.ops[i].outcome, DLKI_ANSWERED, "%s", rig.errors[i]);
	cr_assert_eq(rig.ops[i].stood, stood);
	cr_assert_eq(rig.ended[i], 1);
}

/* ---- Attempts ------------------------------------------------------------ */

Test(memcached_verbs, a_free_lock_costs_one_request)
{
	rig_submit(0, DLKI_ATTEMPT);
	rig_expect(ADD MG MG_MARK);
	rig_say_all("STORED\r\n", rig_got(OURS, 5), NONE, NULL);
	cr_assert_eq(rig.ops[0].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[0].token, RIG_BASE + 5);
	cr_assert_eq(rig.ops[0].lease_ms, 10000);
	cr_assert_eq(rig.ops[0].requests, 1);
	rig_expect("");
}

/* STORED says only by which request the item came: the item decides. */
Test(memcached_verbs, the_item_that_is_there_decides)
{
	rig_submit(0, DLKI_ATTEMPT);
	rig_say_all("STORED\r\n", rig_got(THEIRS, 6), NONE, NULL);
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
	rig_heard(RIG_MAIN);
	/* The owner's item, from before: the lease begins anew. */
	rig_submit(1, DLKI_ATTEMPT);
	rig_heard(RIG_MAIN);
	rig_say_all("NOT_STORED\r\n", rig_got(OURS, 5), NONE, NULL);
	cr_assert_eq(rig.ended[1], 0);
	cr_assert_not_null(
		strstr(rig_heard(RIG_MAIN), ".63 v c t\r\n" CAS("5", WAITS)));
}

/* ---- Inspections --------------------------------------------------------- */

static void say_slots(const char *first)
{
	rig_say(RIG_MAIN, first);
	for (int i = 1; i < 64; i++)
		rig_say(RIG_MAIN, NONE);
}

static int holders[2], waiters[2]; /* shared: [1] */

static void count(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	(p->waiting ? waiters : holders)[p->shared]++;
}

/* Inspect: an owner is at the gate by the cas 5, and another in a slot. */
static void inspect(unsigned int slot_cas)
{
	memset(holders, 0, sizeof(holders));
	memset(waiters, 0, sizeof(waiters));
	rig.ops[0].each.participant = count;
	rig_submit(0, DLKI_INSPECT);
	rig_say(RIG_MAIN, rig_got(THEIRS, 5));
	say_slots(rig_got(OURS, slot_cas));
	rig_turn();
	expect_answered(0, 1);
}

Test(memcached_verbs, an_owner_at_the_gate_waits_for_readers)
{
	inspect(4);
	cr_assert_eq(holders[1], 1);
	cr_assert_eq(waiters[0], 1);
}

/* The reader came later, and has not got the gate yet. */
Test(memcached_verbs, an_owner_at_the_gate_has_the_lock_beside_a_late_reader)
{
	inspect(6);
	cr_assert_eq(holders[0], 1);
	cr_assert_eq(holders[1], 0);
	cr_assert_eq(waiters[1], 1);
}

static void note_rest(const struct dlock_participant *p, void *rest_ms)
{
	*(int64_t *)rest_ms = p->remaining_ms;
}

/* No item lives for so long. */
Test(memcached_verbs, an_item_with_too_much_time_tells_no_rest)
{
	int64_t rest_ms = -2;

	rig.ops[0].each.participant = note_rest;
	rig.ops[0].each_arg = &rest_ms;
	rig_submit(0, DLKI_INSPECT);
	rig_say(RIG_MAIN, "VA 48 c5 t9223372036854775807\r\n" THEIRS "\r\n");
	say_slots(NONE);
	rig_turn();
	expect_answered(0, 1);
	cr_assert_eq(rest_ms, -1);
}

/* ---- Renewals ------------------------------------------------------------ */

Test(memcached_verbs, a_renewal_stores_the_very_item_again)
{
	rig_hold();
	rig_submit(1, DLKI_RENEW);
	rig_expect(CAS("5", RENEWED) MG);
	rig_say_all("STORED\r\n", rig_got(RENEWED, 9), NULL);
	expect_answered(1, 1);
	cr_assert_eq(rig.ops[1].lease_ms, 10000);
	rig_submit(2, DLKI_RENEW);
	rig_expect(CAS("9", RENEWED) MG);
	rig_say_all("NOT_FOUND\r\n", NONE, NULL);
	expect_answered(2, 0);
}

/* The server has moved the item under another cas. */
Test(memcached_verbs, a_moved_item_is_stored_by_its_new_number)
{
	dlk_time second;

	rig_hold();
	rig_submit(1, DLKI_RENEW);
	rig_heard(RIG_MAIN);
	rig.world.clock += 30 * DLK_MS;
	second = rig.world.clock;
	rig_say_all("EXISTS\r\n", rig_got(OURS, 8), NULL);
	rig_expect(CAS("8", RENEWED) MG);
	rig.world.clock += 30 * DLK_MS;
	rig_say_all("STORED\r\n", rig_got(RENEWED, 9), NULL);
	expect_answered(1, 1);
	cr_assert_eq(rig.ops[1].since, second);
	cr_assert_eq(rig.ops[1].lease_ms, 10000);
}

/* A delayed add of the same owner made another item after all was lost. */
Test(memcached_verbs, a_later_item_of_the_same_owner_is_not_renewed)
{
	rig_hold();
	rig_submit(1, DLKI_RENEW);
	rig_say_all("EXISTS\r\n", rig_got(RIG_ITEM(RIG_OWNER, "2"), 8), NULL);
	expect_answered(1, 0);
}

/* ---- Releases ------------------------------------------------------------ */

Test(memcached_verbs, a_release_of_what_is_gone_says_so)
{
	rig_hold();
	rig_submit(1, DLKI_RELEASE);
	rig_say_slowly(RIG_MAIN, "NF\r\n");
	expect_answered(1, 0);
	rig_submit(2, DLKI_RELEASE);
	rig_turn();
	expect_answered(2, 0);
	rig_heard(RIG_MAIN);
	rig_submit(3, DLKI_RELEASE); /* of a claim that never asked */
	rig_turn();
	expect_answered(3, 0);
	rig_expect("");
}

Test(memcached_verbs, a_release_wakes_the_clients_own_waiter)
{
	struct dlk_request other = rig_request;

	other.owner = "00000000000000000000000000000002";
	rig_hold();
	rig.ops[3].request = &other;
	rig_submit(3, DLKI_ATTEMPT);
	rig_heard(RIG_MAIN);
	rig_say_all("NOT_STORED\r\n", rig_got(OURS, 5), NONE, NULL);
	cr_assert_eq(rig.ops[3].outcome, DLKI_BUSY);
	rig_submit(1, DLKI_RELEASE);
	rig_expect("md " RIG_KEY " C5\r\n");
	cr_assert_eq(rig.woken, 0);
	rig_say_slowly(RIG_MAIN, "HD\r\n");
	expect_answered(1, 1);
	cr_assert_eq(rig.woken, 1);
	cr_assert_eq(rig.news_id, rig.ops[3].id);
}

/* ---- Not provided -------------------------------------------------------- */

Test(memcached_verbs, there_is_no_list_and_no_downgrade)
{
	rig_submit(0, DLKI_LIST);
	rig_submit(1, DLKI_DOWNGRADE);
	rig_turn();
	cr_assert_eq(rig.ops[0].outcome, DLKI_FAILED);
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	rig_expect("");
}
