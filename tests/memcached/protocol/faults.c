/* SPDX-License-Identifier: Apache-2.0 */
/* The memcached protocol with faults of the server, byte by byte. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/item.h"
#include "tests/memcached/protocol/rig.h"

TestSuite(memcached_faults, .init = rig_up, .fini = rig_end);

#define RENEWED "dlock1 " RIG_OWNER " 1700000003000005 0 me"
#define SECOND (1000 * DLK_MS)

/* ---- The server's clock -------------------------------------------------- */

Test(memcached_faults, the_clock_is_asked_for_about_once_a_second)
{
	rig_hold();
	rig.world.clock += SECOND;
	rig_submit(1, DLKI_RENEW);
	cr_assert_eq(strncmp(rig_heard(RIG_MAIN), "stats\r\ncas ", 11), 0);
	rig_submit(3, DLKI_ATTEMPT); /* and not while the answer is awaited */
	cr_assert_eq(strncmp(rig_heard(RIG_MAIN), "add ", 4), 0);
	rig_say_all(rig_stats(0, 101), "STORED\r\n", rig_got(RENEWED, 9), NULL);
	cr_assert_eq(rig.ops[1].stood, 1);
}

/* The machine slept, and the server's clock never catches up. */
Test(memcached_faults, a_clock_that_is_behind_for_good_is_believed_in_the_end)
{
	rig_hold();
	rig.world.clock += 60 * SECOND;
	rig_submit(1, DLKI_RENEW);
	rig_say_all(rig_stats(0, 100), "STORED\r\n", rig_got(RENEWED, 9), NULL);
	cr_assert_eq(rig.ended[1], 0);
	rig_turn_until(rig.world.clock + 20 * DLK_MS);
	rig_turn();
	rig_say_all(rig_stats(0, 101), "STORED\r\n", rig_got(RENEWED, 10),
		    NULL);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[1].stood, 1);
	/* The claim has the number of the last item stored. */
	rig_heard(RIG_MAIN);
	rig_submit(2, DLKI_RELEASE);
	rig_expect("md " RIG_KEY " C10\r\n");
}

/* The release comes while the attempt is held, and removes the item. */
Test(memcached_faults, a_held_attempt_ends_with_its_release)
{
	rig.world.clock += 60 * SECOND;
	rig_submit(0, DLKI_ATTEMPT);
	rig_say_all(rig_stats(0, 100), "STORED\r\n", rig_got(OURS, 5), NONE,
		    NULL);
	cr_assert_eq(rig.ended[0], 0);
	rig_heard(RIG_MAIN);
	rig.ops[1].claim = rig.claims[0];
	rig_submit(1, DLKI_RELEASE);
	rig_expect("md " RIG_KEY " C5\r\n");
	rig_turn_until(rig.world.clock + 20 * DLK_MS);
	rig_turn();
	rig_expect("");
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
	rig_say_all("HD\r\n", NULL);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
}

/* A renewal with so much time left is answered after `way`.  The server's clock
 * stands still. */
static void renew_by_a_stopped_clock(dlk_time left, dlk_time way)
{
	rig_begin_up("", 1);
	rig_hold();
	rig.world.clock += 60 * SECOND;
	rig.ops[1].deadline = rig.world.clock + left;
	rig_submit(1, DLKI_RENEW);
	rig.world.clock += way;
	rig_say_all(rig_stats(0, 100), "STORED\r\n", rig_got(RENEWED, 9), NULL);
}

/* A request without time for the answer is not sent. */
Test(memcached_faults, a_slow_server_is_waited_for_while_it_may_answer)
{
	renew_by_a_stopped_clock(45 * DLK_MS, 15 * DLK_MS);
	rig_expect_failed(1, "takes more than a second to answer");
}

Test(memcached_faults, a_stopped_server_is_waited_for_until_the_deadline)
{
	renew_by_a_stopped_clock(30 * DLK_MS, 0);
	cr_assert_eq(rig.ended[1], 0);
	rig_turn_until(rig.world.clock + 20 * DLK_MS);
	rig_turn();
	rig_say_all(rig_stats(0, 100), "STORED\r\n", rig_got(RENEWED, 10),
		    NULL);
	rig_expect_failed(1, "the server was stopped for a while");
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert(rig_is_open());
}

/* The server, whose clock runs, answers what the client has sent over a way of
 * this length. */
static void answer_over(dlk_time way, dlk_time begun, unsigned int cas)
{
	const char *heard = rig_heard(RIG_MAIN);
	dlk_time age = rig.world.clock + way / 2 - begun;
	int looks = strstr(heard, "mg " RIG_KEY ".0 ") != NULL;
	int stores = strstr(heard, RIG_KEY " 0 13 ") != NULL;

	cr_assert_eq(strncmp(heard, "stats\r\n", 7), 0, "%s", heard);
	rig.world.clock += way;
	rig_say(RIG_MAIN, rig_stats(0, 100 + (unsigned int)(age / SECOND)));
	for (int i = 0; looks && i < MEMC_READERS; i++)
		rig_say(RIG_MAIN, NONE);
	if (stores)
		rig_say_all("STORED\r\n", rig_got(OURS, cas),
			    looks ? NULL : NONE, NULL);
}

/* The server may have been stopped in the midst of the handshake of TLS. */
Test(memcached_faults, behind_a_slow_connection_the_clock_is_to_advance)
{
	rig_begin("");
	rig.e->links[0]->began -= 300 * DLK_MS;
	rig_welcome(RIG_MAIN, 100, 1);
	rig_heard(RIG_MAIN);
	rig_submit(0, DLKI_ATTEMPT);
	rig_say_all(rig_stats(0, 100), "STORED\r\n", rig_got(OURS, 5), NONE,
		    NULL);
	cr_assert_eq(rig.ended[0], 0);
	rig_heard(RIG_MAIN);
	rig_turn_until(rig.world.clock + 20 * DLK_MS);
	rig_turn();
	answer_over(0, rig.world.clock - SECOND, 6);
	cr_assert_eq(rig.ops[0].outcome, DLKI_GRANTED);
}

static void attempt_over(dlk_time way)
{
	dlk_time begun;

	rig_begin_up("", 1);
	begun = rig.world.clock;
	rig.world.clock += 60 * SECOND;
	rig.ops[0].deadline = rig.world.clock + 60 * SECOND;
	rig_submit(0, DLKI_ATTEMPT);
	for (unsigned int cas = 5; !rig.ended[0]; cas++) {
		answer_over(way, begun, cas);
		rig_turn_until(rig.world.clock + 20 * DLK_MS);
		rig_turn();
	}
}

Test(memcached_faults, a_server_over_two_seconds_away_grants_nothing)
{
	attempt_over(2200 * DLK_MS);
	rig_expect_failed(0, "takes more than a second to answer");
}

/* The run is confirmed once, however late that answer. */
Test(memcached_faults, a_server_over_a_second_away_grants)
{
	attempt_over(1600 * DLK_MS);
	cr_assert_eq(rig.ops[0].outcome, DLKI_GRANTED);
}

Test(memcached_faults, a_young_server_grants_nothing)
{
	rig_begin("");
	rig_welcome(RIG_MAIN, 2, 1);
	rig_submit(0, DLKI_ATTEMPT);
	rig_expect("stats\r\n");
	rig_say_slowly(RIG_MAIN, rig_stats(0, 2));
	rig_expect_failed(0, "the server was started just now");
	cr_assert_eq(rig.ops[0].residue, DLKI_RESIDUE_NONE);
	/* By the client's clock the greeting was in the midst of a second. */
	rig.world.clock += SECOND / 2;
	rig_submit(1, DLKI_ATTEMPT);
	rig_expect("stats\r\n");
	rig_say_slowly(RIG_MAIN, rig_stats(0, 4));
	rig_expect(ADD MG MG_MARK);
	rig_submit(2, DLKI_ATTEMPT);
	rig_expect(ADD MG MG_MARK);
}

/* ---- Another run of the server ------------------------------------------- */

/* A proxy keeps the connection; no client reads the items stored before. */
Test(memcached_faults, another_run_of_the_server_is_left)
{
	rig.world.clock += 2 * SECOND;
	for (int i = 0; i < 2; i++)
		rig_submit(i, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, rig_stats(1700000150, 2));
	rig_turn();
	cr_assert(!rig_is_open());
	cr_assert_eq(rig.ops[0].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_not_null(strstr(rig.warning, "a proxy keeps connections"));
}

/* The answer came so late that the run is to be confirmed. */
Test(memcached_faults, a_late_grant_is_confirmed)
{
	rig_submit(0, DLKI_ATTEMPT);
	rig.world.clock += 900 * DLK_MS;
	rig_submit(2, DLKI_ATTEMPT); /* asks for the clock */
	rig_heard(RIG_MAIN);
	rig.world.clock += 50 * DLK_MS;
	rig_grant();
	cr_assert_eq(rig.ops[0].outcome, DLKI_GRANTED);
	rig.world.clock += 200 * DLK_MS;
	rig_say_all(rig_stats(0, 101), NULL);
	rig.world.clock += 800 * DLK_MS;
	rig_say_all("STORED\r\n", rig_got(OURS, 6), NONE, NULL);
	cr_assert_eq(rig.ended[2], 0);
	rig_expect("stats\r\n");
	rig_say(RIG_MAIN, rig_stats(0, 102));
	cr_assert_eq(rig.ops[2].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[2].lease_ms, 10000 - 1050,
		     "from when it was stored");
}

static void reconnect(uint64_t born_s, unsigned int uptime_s, char pid)
{
	char stats[300];

	rig_lose(RIG_MAIN);
	rig_connected(1);
	rig_heard(1);
	snprintf(stats, sizeof(stats), "%s", rig_stats(born_s, uptime_s));
	stats[strlen("STAT pid ")] = pid;
	rig_say(1, stats);
	rig_say(1, "NOT_STORED\r\nVALUE dlock.0 0 32 1\r\n" RIG_WITNESS
		   "\r\nEND\r\nMN\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
	rig_heard(1);
}

Test(memcached_faults, a_claim_of_a_run_that_is_over_is_gone)
{
	rig_hold();
	reconnect(1700000150, 30, '7');
	cr_assert_eq(rig.moved, 1);
	rig_submit(1, DLKI_RENEW);
	cr_assert_str_eq(rig_heard(1), "");
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[1].stood, 0);
	rig_submit(2, DLKI_RELEASE);
	rig_turn();
	cr_assert_eq(rig.ops[2].stood, 0);
	cr_assert_str_eq(rig_heard(1), "");
}

Test(memcached_faults, the_same_run_is_known_over_a_connection)
{
	rig_hold();
	reconnect(0, 101, '7');
	cr_assert_eq(rig.moved, 0);
	rig_submit(1, DLKI_RELEASE);
	cr_assert_str_eq(rig_heard(1), "md " RIG_KEY " C5\r\n");
}

/* Another server started in the same second has the same keys; the numbers are
 * those of other items. */
Test(memcached_faults, an_item_known_from_another_server_is_read_first)
{
	rig_hold();
	reconnect(0, 101, '8');
	cr_assert_eq(rig.moved, 1);
	rig_submit(1, DLKI_RENEW);
	cr_assert_str_eq(rig_heard(1), MG);
	rig_say(1, rig_got(THEIRS, 5));
	cr_assert_eq(rig.ops[1].stood, 0);
	rig_submit(2, DLKI_RELEASE);
	cr_assert_str_eq(rig_heard(1), MG);
	rig_say(1, rig_got(THEIRS, 5));
	cr_assert_eq(rig.ops[2].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[2].stood, 0);
}

/* The client does not send the attempt again, and the claim is unclear. */
Test(memcached_faults, a_lost_attempt_is_looked_for)
{
	rig_submit(0, DLKI_ATTEMPT);
	reconnect(0, 101, '7');
	cr_assert_eq(rig.ops[0].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ended[0], 1);
	rig.ops[1].claim = rig.claims[0];
	rig_submit(1, DLKI_RELEASE);
	cr_assert_str_eq(rig_heard(1), MG);
	rig_say(1, NONE);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[1].stood, 0);
}
