/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of the Redis protocol, byte by byte. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/redis/protocol/rig.h"

TestSuite(redis_verbs, .init = rig_up, .fini = rig_end);

#define GRANT RIG_OWNER " 1700000000000001"

/* The last request has these arguments at the end. */
static void expect_args(const char *args)
{
	const char *heard = rig_heard(RIG_MAIN);
	size_t n = strlen(heard), len = strlen(args);

	cr_assert(n >= len && strcmp(heard + n - len, args) == 0,
		  "%s\nand not\n%s", heard, args);
}

/* ---- Downgrade ----------------------------------------------------------- */

Test(redis_verbs, a_downgrade_is_answered_whether_the_claim_stood)
{
	rig.ops[1].token = rig.ops[2].token = TOKEN;
	rig_submit(1, DLKI_DOWNGRADE);
	expect_args("$1\r\n2\r\n$11\r\ndlock:{lnn}\r\n$11\r\ndlock:clock\r\n"
		    "$49\r\n" GRANT
		    "\r\n$5\r\n10000\r\n$10\r\n10000 me\nn\r\n");
	rig_submit(2, DLKI_DOWNGRADE);
	rig_say_slowly(RIG_MAIN, ":1\r\n:0\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[1].stood, 1);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert_eq(rig.ops[2].stood, 0);
	cr_assert_eq(rig.ops[2].residue, DLKI_RESIDUE_NONE);
}

/* ---- Wanted -------------------------------------------------------------- */

/* A message before the ear listens is lost. */
Test(redis_verbs, a_claim_is_watched_when_the_ear_listens)
{
	rig.ops[1].token = rig.ops[2].token = TOKEN;
	rig_submit(1, DLKI_WATCH);
	rig_submit(2, DLKI_WATCH);
	rig_submit(3, DLKI_REVOKE);
	rig_heard(RIG_MAIN);
	rig_say(RIG_MAIN, ":0\r\n");
	cr_assert_eq(rig.ended[3], 1, "and no op waits behind");
	rig_turn();
	rig_ear_connects(RIG_EAR);
	expect_args("$1\r\n2\r\n$11\r\ndlock:{lnn}\r\n$11\r\ndlock:clock\r\n"
		    "$49\r\n" GRANT "\r\n"
		    "$44\r\ndlock:inbox:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a\r\n"
		    "$5\r\n10000\r\n");
	rig_say_slowly(RIG_MAIN, "$18\r\n1 1700000000065537\r\n$3\r\n0 0\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[1].stood, 1);
	cr_assert_eq(rig.ops[1].wanted, 1);
	cr_assert_eq(rig.ops[1].token_last, 1700000000065537);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert_eq(rig.ops[2].stood, 0);
}

Test(redis_verbs, a_message_to_the_watching_client_names_the_owner)
{
	rig_raise_ear();
	rig_publish(RIG_OWNER " 0 0");
	cr_assert_eq(rig.wanted, 1);
	cr_assert_str_eq(rig.owner, RIG_OWNER);
	rig_publish(RIG_OWNER " 0 0 ");
	rig_publish("0 0");
	cr_assert_eq(rig.wanted, 1);
	cr_assert_eq(rig.woken, 0);
}

/* ---- Break --------------------------------------------------------------- */

Test(redis_verbs, a_break_asks_first_which_holders_there_are)
{
	rig_submit(1, DLKI_BREAK);
	expect_args("$1\r\n2\r\n$11\r\ndlock:{lnn}\r\n$11\r\ndlock:clock\r\n");
	rig_say_slowly(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	cr_assert_eq(rig.ended[1], 0);
	expect_args("$11\r\ndlock:clock\r\n$16\r\n1700000000000001\r\n");
	rig_say_slowly(RIG_MAIN, ":1\r\n");
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
}

/* The connection dies under the second call, which may have run: by then there
 * may be other holders. */
Test(redis_verbs, a_break_that_is_submitted_anew_is_about_the_same_holders)
{
	char about[DLKI_ABOUT] = "";

	rig.ops[1].about = about;
	rig_submit(1, DLKI_BREAK);
	rig_heard(RIG_MAIN);
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	dlki_cancel(&rig.ops[1]);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_str_eq(about, "1700000000000001");
	rig_heard(RIG_MAIN);
	rig_say(RIG_MAIN, ":1\r\n+PONG\r\n");
	rig_submit(1, DLKI_BREAK);
	expect_args("$11\r\ndlock:clock\r\n$16\r\n1700000000000001\r\n");
	rig_say(RIG_MAIN, ":0\r\n");
	cr_assert_eq(rig.ended[1], 2);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
}

/* The second call does not follow, and the first call changes no lock. */
Test(redis_verbs, a_break_that_is_over_goes_no_further)
{
	rig.ops[1].deadline = rig.world.clock + 5;
	rig_submit(1, DLKI_BREAK);
	dlki_turn(rig.e, DLKI_ALL_SETS, rig.world.clock + 5);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	rig_heard(RIG_MAIN);
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
	cr_assert(rig.world.socks[RIG_MAIN].is_open);
}

/* ---- Inspect ------------------------------------------------------------- */

static char rows[400];

static void on_participant(const struct dlock_participant *p, void *arg)
{
	size_t n = strlen(rows);

	cr_assert_eq(arg, rows);
	snprintf(rows + n, sizeof(rows) - n, "%s%s %s %d %d;",
		 p->waiting ? "waits " : "", p->shared ? "shared" : "exclusive",
		 p->label, (int)p->remaining_ms, (int)(p->token % 1000));
}

static void inspect(int i)
{
	rig.ops[i].each.participant = on_participant;
	rig.ops[i].each_arg = rows;
	rig_submit(i, DLKI_INSPECT);
}

#define HOLDER "$63\r\nX 250 " RIG_OWNER " 1700000000000017 900 a\nn\r\n"
#define WAITER "$43\r\nW s " RIG_OWNER " 900 b\nn\r\n"

Test(redis_verbs, an_inspection_comes_in_rows)
{
	inspect(1);
	expect_args("$1\r\n1\r\n$11\r\ndlock:{lnn}\r\n");
	rig_request.holders_only = 1;
	inspect(2);
	expect_args("$11\r\ndlock:{lnn}\r\n$7\r\nholders\r\n");
	rig_say_slowly(RIG_MAIN, "*2\r\n" HOLDER WAITER "*0\r\n");
	cr_assert_str_eq(rows, "exclusive a 250 17;waits shared b -1 0;");
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ended[2], 1);
}

Test(redis_verbs, an_inspection_that_is_over_gets_no_rows)
{
	inspect(1);
	dlki_cancel(&rig.ops[1]);
	rig_turn();
	rig_say(RIG_MAIN, "*1\r\n" HOLDER);
	cr_assert_str_eq(rows, "");
	cr_assert(rig.world.socks[RIG_MAIN].is_open);
}

Test(redis_verbs, an_inspection_without_sense_gets_no_rows)
{
	inspect(1);
	rig_say(RIG_MAIN, "*2\r\n" HOLDER ":1\r\n");
	cr_assert_str_eq(rows, "");
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_not(rig.world.socks[RIG_MAIN].is_open);
}

/* ---- Release ------------------------------------------------------------- */

/* Whether a PING goes ahead of a release. */
static int pings(int64_t held_us, int pushed, int closing)
{
	const char *heard;
	int found;

	rig_begin_up("");
	if (held_us >= 0)
		rig.ops[1].lease_heard = rig.world.clock;
	rig.world.clock += held_us * 1000;
	rig.ops[1].token = TOKEN;
	rig.ops[1].pushed = pushed;
	rig.ops[1].closing = closing;
	rig_submit(1, DLKI_RELEASE);
	heard = rig_heard(RIG_MAIN);
	found = strncmp(heard, PING "*", strlen(PING) + 1) == 0;
	cr_assert_eq(found, strstr(heard, PING) != NULL);
	if (found)
		rig_say(RIG_MAIN, "-NOPERM this user has no permissions\r\n");
	rig_say(RIG_MAIN, ":1\r\n");
	cr_assert_eq(rig.ops[1].stood, 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	return found;
}

Test(redis_verbs, a_ping_goes_ahead_of_the_release_of_what_was_held_a_while)
{
	cr_assert(pings(101, 0, 0));
	cr_assert_not(pings(100, 0, 0), "nobody can have come");
	cr_assert_not(pings(-1, 0, 0), "no thread waits for the answer");
	cr_assert_not(pings(101, 1, 0), "the lock passes on all the time");
	cr_assert_not(pings(101, 0, 1), "the client closes");
}

Test(redis_verbs, releases_in_a_write_share_a_ping)
{
	for (int i = 1; i <= 3; i++) {
		rig.ops[i].lease_heard = rig.world.clock;
		rig.ops[i].token = TOKEN;
	}
	rig.world.clock += 101 * 1000;
	for (int i = 1; i <= 3; i++)
		rig_queue(i, DLKI_RELEASE);
	dlki_push(rig.e);
	cr_assert_eq(rig_count(rig_heard(RIG_MAIN), PING), 1);
}

Test(redis_verbs, the_first_release_of_a_closing_client_brings_the_text)
{
	const char *heard;

	for (int i = 1; i <= 8; i++) {
		rig.ops[i].closing = 1;
		rig_queue(i, DLKI_RELEASE);
	}
	dlki_push(rig.e);
	heard = rig_heard(RIG_MAIN);
	cr_assert_eq(rig_count(heard, "$4\r\nEVAL\r\n"), 1);
	cr_assert_eq(rig_count(heard, "$7\r\nEVALSHA\r\n"), 7);
	cr_assert_lt(strstr(heard, "EVAL\r\n"), strstr(heard, "EVALSHA\r\n"));
}

/* Return when a waiter looks again, with a lease of 10 s. */
static int look_in_ms(const char *owner, int again)
{
	struct dlk_request request = rig_request;

	request.owner = owner;
	rig.ops[1].request = &request;
	rig.ops[1].again = again;
	rig_submit(1, DLKI_ATTEMPT);
	rig_say_string(RIG_MAIN, "B 0 1700000000000000");
	cr_assert_eq(rig.ops[1].outcome, DLKI_BUSY);
	return (int)rig.ops[1].look_in_ms;
}

Test(redis_verbs, waiters_that_come_together_look_apart)
{
	rig_raise_ear();
	cr_assert_eq(look_in_ms("00000000000000000000000000000000", 0), 3333);
	cr_assert_eq(look_in_ms("80000000000000000000000000000000", 0), 2500);
	cr_assert_eq(look_in_ms("ffffffffffffffffffffffffffffffff", 0), 1674);
	cr_assert_eq(look_in_ms("00000000000000000000000000000000", 1), 3333);
	cr_assert_eq(look_in_ms("ffffffffffffffffffffffffffffffff", 1), 3126);
}

/* ---- key=plain ----------------------------------------------------------- */

#define PLAIN_KEYS                                                             \
	"$1\r\n3\r\n$11\r\ndlock:{lnn}\r\n$11\r\ndlock:clock\r\n$1\r\nn\r\n"

Test(redis_verbs, with_a_plain_key_waiters_poll)
{
	rig_begin_up("&key=plain");
	cr_assert_not(rig.e->agreed.caps &
		      (DLOCK_CAP_WAKE | DLOCK_CAP_FAIR | DLOCK_CAP_WANTED |
		       DLOCK_CAP_SHARED | DLOCK_CAP_COUNT | DLOCK_CAP_RESIZE |
		       DLOCK_CAP_PERMITS | DLOCK_CAP_REVOKE_PERMITS));
	rig_submit(1, DLKI_ATTEMPT);
	cr_assert_not_null(strstr(rig_heard(RIG_MAIN),
				  PLAIN_KEYS "$32\r\n" RIG_OWNER "\r\n"));
	rig_say_string(RIG_MAIN, "B 9000");
	cr_assert_eq(rig.ops[1].outcome, DLKI_BUSY);
	cr_assert_eq(rig.ops[1].look_in_ms, 9000);
	rig_submit(2, DLKI_ATTEMPT);
	rig_say_string(RIG_MAIN, "B 0");
	cr_assert_eq(rig.ops[2].look_in_ms, 0);
	rig_turn();
	cr_assert_eq(rig.world.opened, 1, "no ear");
}

Test(redis_verbs, with_a_plain_key_every_verb_names_it)
{
	rig_begin_up("&key=plain");
	rig.ops[1].token = rig.ops[2].token = TOKEN;
	rig_submit(1, DLKI_RENEW);
	expect_args("$1\r\n2\r\n$11\r\ndlock:{lnn}\r\n$1\r\nn\r\n$49\r\n" GRANT
		    "\r\n$5\r\n10000\r\n");
	rig_submit(2, DLKI_RELEASE);
	cr_assert_not_null(strstr(rig_heard(RIG_MAIN),
				  PLAIN_KEYS "$51\r\n0 " GRANT "\r\n"));
	inspect(3);
	expect_args("$1\r\n2\r\n$11\r\ndlock:{lnn}\r\n$1\r\nn\r\n");
	rig_submit(4, DLKI_BREAK);
	expect_args(PLAIN_KEYS);
	rig_say_slowly(RIG_MAIN,
		       ":5\r\n:1\r\n*1\r\n$5\r\nP 250\r\n"
		       "$56\r\n0000000000000000"
		       "0123456789abcdef0123456789abcdef01234567\r\n");
	cr_assert_eq(rig.ops[1].stood, 1);
	cr_assert_eq(rig.ops[2].stood, 1);
	cr_assert_not_null(strstr(rows, "SET NX PX) 250"), "%s", rows);
	expect_args("$16\r\n0000000000000000\r\n"
		    "$40\r\n0123456789abcdef0123456789abcdef01234567\r\n");
	rig_say(RIG_MAIN, ":1\r\n");
	cr_assert_eq(rig.ops[4].outcome, DLKI_ANSWERED);
}

Test(redis_verbs, a_plain_key_is_no_key_of_dlocks_own)
{
	static const enum dlki_verb verbs[] = { DLKI_ATTEMPT, DLKI_INSPECT,
						DLKI_BREAK };

	rig_begin_up("&key=plain");
	rig_request.name = "dlock:clock";
	for (int i = 0; i < 3; i++) {
		rig_submit(i, verbs[i]);
		rig_turn();
		cr_assert_eq(rig.ops[i].outcome, DLKI_FAILED);
		cr_assert_eq(rig.ops[i].residue, DLKI_RESIDUE_NONE);
		cr_assert_not_null(strstr(rig.errors[i], "dlock's own"));
	}
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
}

/* ---- Renew --------------------------------------------------------------- */

static void renew(int i, dlk_time from, dlk_time heard, const char *left)
{
	rig.ops[i].lease_from = from;
	rig.ops[i].lease_heard = heard;
	rig.ops[i].token = TOKEN;
	rig_submit(i, DLKI_RENEW);
	rig.world.clock += 10 * DLK_MS;
	rig_say(RIG_MAIN, left);
	cr_assert_eq(rig.ops[i].stood, 1);
}

Test(redis_verbs, a_server_whose_clock_was_set_is_warned_of)
{
	dlk_time begun = rig.world.clock;

	rig.world.clock += 3000 * DLK_MS;
	renew(1, begun, begun + 20 * DLK_MS, ":7100\r\n");
	renew(2, begun, begun + 20 * DLK_MS, ":6900\r\n");
	renew(3, 0, 0, ":100\r\n");
	cr_assert_eq(rig.warned, 0);
	renew(4, begun, begun + 20 * DLK_MS, ":1000\r\n");
	cr_assert_eq(rig.warned, 1);
	cr_assert_str_eq(rig.warning,
			 "the server's clock was set by 5960 ms: leases there "
			 "end that much earlier");
	renew(5, begun, begun + 20 * DLK_MS, ":1000\r\n");
	cr_assert_eq(rig.warned, 1, "once a lease");
	rig.world.clock += 10000 * DLK_MS;
	renew(6, rig.world.clock, rig.world.clock, ":11000\r\n");
	cr_assert_eq(rig.warned, 2);
	cr_assert_str_eq(rig.warning,
			 "the server's clock was set by 1000 ms: leases there "
			 "end that much later");
}
