/* SPDX-License-Identifier: Apache-2.0 */
/* A list of the locks: SCAN's cursors, then descriptions in batches. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/redis/protocol/rig.h"

TestSuite(redis_list, .init = rig_up, .fini = rig_end);

static char rows[200];
static int n_rows;

static void on_lock(const struct dlock_lock_info *info, void *arg)
{
	size_t n = strlen(rows);

	cr_assert_eq(arg, rows);
	if (n_rows++ < 5)
		snprintf(rows + n, sizeof(rows) - n, "%s %s %u;", info->kind,
			 info->name, info->permits);
}

static void list(int i)
{
	rig.ops[i].each.lock = on_lock;
	rig.ops[i].each_arg = rows;
	rig_submit(i, DLKI_LIST);
}

#define SCAN(cursor)                                                           \
	"*6\r\n$4\r\nSCAN\r\n" cursor "\r\n$5\r\nMATCH\r\n$8\r\ndlock:{*\r\n"  \
	"$5\r\nCOUNT\r\n$4\r\n1000\r\n"
#define NO_KEYS "*2\r\n$1\r\n0\r\n*0\r\n"

Test(redis_list, goes_through_the_cursors_and_describes_each_lock_once)
{
	const char *heard;

	list(1);
	cr_assert_str_eq(rig_heard(RIG_MAIN), SCAN("$1\r\n0"));
	rig_say_slowly(RIG_MAIN,
		       "*2\r\n$2\r\n17\r\n*4\r\n$11\r\ndlock:{lbb}\r\n"
		       "$13\r\ndlock:{saa}:q\r\n$11\r\ndlock:clock\r\n"
		       "$7\r\ndlock:{\r\n");
	cr_assert_str_eq(rig_heard(RIG_MAIN), SCAN("$2\r\n17"));
	rig_say_slowly(RIG_MAIN,
		       "*2\r\n$1\r\n0\r\n*4\r\n$11\r\ndlock:{saa}\r\n"
		       "$13\r\ndlock:{saa}:i\r\n$11\r\ndlock:{lcc}\r\n"
		       "$11\r\ndlock:{ldd}\r\n");
	heard = rig_heard(RIG_MAIN);
	cr_assert_eq(rig_count(heard, "$4\r\nEVAL\r\n"), 1);
	cr_assert_eq(rig_count(heard, "$7\r\nEVALSHA\r\n"), 3);
	cr_assert_not_null(strstr(heard, "$1\r\n1\r\n$11\r\ndlock:{lbb}\r\n"));
	cr_assert_eq(rig_count(heard, "dlock:{saa}"), 1);
	rig_say_slowly(RIG_MAIN, "$10\r\n0 900 me\nb\r\n$-1\r\n"
				 "-WRONGTYPE not a string\r\n");
	cr_assert_eq(rig.ended[1], 0);
	rig_say_slowly(RIG_MAIN, "$10\r\n7 900 me\na\r\n");
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_str_eq(rows, "lock b 0;semaphore a 7;");
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
}

/* 300 keys; the client asks about 256 of them. */
static void find_many(void)
{
	static char bytes[16000];
	size_t n;

	list(1);
	rig_heard(RIG_MAIN);
	n = (size_t)sprintf(bytes, "*2\r\n$1\r\n0\r\n*300\r\n");
	for (int i = 0; i < 300; i++)
		n += (size_t)sprintf(bytes + n, "$13\r\ndlock:{lk%03d}\r\n", i);
	rig_say(RIG_MAIN, bytes);
	cr_assert_eq(rig_count(rig_heard(RIG_MAIN), "EVAL"), 256);
}

Test(redis_list, describes_in_batches)
{
	static char bytes[16000];
	const char *heard;
	size_t n = 0;

	find_many();
	for (int i = 0; i < 256; i++)
		n += (size_t)sprintf(bytes + n, "$10\r\n0 900 me\nb\r\n");
	rig_say(RIG_MAIN, bytes);
	cr_assert_eq(rig.ended[1], 0);
	heard = rig_heard(RIG_MAIN);
	cr_assert_eq(rig_count(heard, "EVAL"), 44);
	cr_assert_eq(rig_count(heard, "$4\r\nEVAL\r\n"), 1);
	bytes[n / 256 * 44] = '\0';
	rig_say(RIG_MAIN, bytes);
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(n_rows, 300);
}

Test(redis_list, that_fails_at_the_end_of_a_batch_asks_no_more)
{
	find_many();
	for (int i = 0; i < 255; i++)
		script_says(&rig.world, RIG_MAIN, "$-1\r\n");
	rig_say(RIG_MAIN, "-NOPERM this user has no permissions\r\n");
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
	rig_submit(2, DLKI_REVOKE);
	rig_say(RIG_MAIN, ":0\r\n");
	cr_assert_eq(rig.ops[2].outcome, DLKI_ANSWERED);
}

/* The first list is at the descriptions when the second asks for the keys. */
Test(redis_list, behind_another_has_answers_of_its_own)
{
	list(1);
	rig_say(RIG_MAIN, "*2\r\n$1\r\n0\r\n*1\r\n$11\r\ndlock:{lbb}\r\n");
	list(2);
	rig_say_slowly(RIG_MAIN, "$10\r\n0 900 me\nb\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ended[2], 0);
	rig_say_slowly(RIG_MAIN, NO_KEYS);
	cr_assert_eq(rig.ops[2].outcome, DLKI_ANSWERED);
	cr_assert_str_eq(rows, "lock b 0;");
}

/* ---- The end before the end ---------------------------------------------- */

Test(redis_list, that_is_over_stops_with_the_answer)
{
	list(1);
	list(2);
	dlki_cancel(&rig.ops[1]);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	rig_heard(RIG_MAIN);
	rig_say(RIG_MAIN, "*2\r\n$1\r\n5\r\n*0\r\n");
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
	rig_say(RIG_MAIN, "*2\r\n$1\r\n0\r\n*2\r\n$11\r\ndlock:{lbb}\r\n"
			  "$11\r\ndlock:{lcc}\r\n+PONG\r\n");
	rig_say(RIG_MAIN, "$10\r\n0 900 me\nb\r\n");
	dlki_cancel(&rig.ops[2]);
	rig_turn();
	rig_say(RIG_MAIN, "$10\r\n0 900 me\nc\r\n+PONG\r\n");
	cr_assert_str_eq(rows, "lock b 0;");
	cr_assert_eq(rig.ended[2], 1);
	rig_submit(3, DLKI_REVOKE);
	rig_say(RIG_MAIN, ":0\r\n");
	cr_assert_eq(rig.ops[3].outcome, DLKI_ANSWERED);
}

Test(redis_list, that_loses_its_connection_is_unanswered)
{
	list(1);
	rig_say(RIG_MAIN, "*2\r\n$1\r\n0\r\n*1\r\n$11\r\ndlock:{lbb}\r\n");
	rig_lose(RIG_MAIN);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	list(2);
	cr_assert_eq(rig.ended[2], 0);
}

/* No byte was sent: the list begins anew over the next connection. */
Test(redis_list, that_was_not_sent_is_sent_later)
{
	script_room(&rig.world, RIG_MAIN, 0);
	list(1);
	rig_lose(RIG_MAIN);
	cr_assert_eq(rig.ended[1], 0);
	rig_connected(1);
	rig_heard(1);
	rig_say_string(1, "redis_version:7.0.15\r\nrun_id:one\r\n");
	cr_assert_str_eq(rig_heard(1), SCAN("$1\r\n0"));
	rig_say(1, NO_KEYS);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
}

/* ---- Errors -------------------------------------------------------------- */

static void expect_end(const char *answer, enum dlki_outcome outcome,
		       const char *says, int cut)
{
	rig_begin_up("");
	list(1);
	rig_say(RIG_MAIN, answer);
	cr_assert_eq(rig.ops[1].outcome, outcome, "%s", answer);
	cr_assert_not_null(strstr(rig.errors[1], says), "%s", rig.errors[1]);
	cr_assert_eq(!rig.world.socks[RIG_MAIN].is_open, cut, "%s", answer);
}

Test(redis_list, that_the_server_denies_fails)
{
	static const char odd[] = "does not understand";

	expect_end("-NOPERM this user has no permissions\r\n", DLKI_FAILED,
		   "ACL rule", 0);
	expect_end("-READONLY You can't write\r\n", DLKI_FAILED, "is a replica",
		   1);
	expect_end(":1\r\n", DLKI_UNANSWERED, odd, 1);
	expect_end("*2\r\n:0\r\n*0\r\n", DLKI_UNANSWERED, odd, 1);
	expect_end("*2\r\n$1\r\n0\r\n$1\r\nx\r\n", DLKI_UNANSWERED, odd, 1);
	expect_end("*1\r\n$1\r\n0\r\n", DLKI_UNANSWERED, odd, 1);
	expect_end("*2\r\n$33\r\n000000000000000000000000000000000\r\n*0\r\n",
		   DLKI_UNANSWERED, odd, 1);
}

/* The other descriptions are on their way, and are no answers to later
 * requests. */
Test(redis_list, that_fails_in_the_midst_takes_in_the_rest)
{
	list(1);
	rig_say(RIG_MAIN, "*2\r\n$1\r\n0\r\n*3\r\n$11\r\ndlock:{laa}\r\n"
			  "$11\r\ndlock:{lbb}\r\n$11\r\ndlock:{lcc}\r\n");
	rig_submit(2, DLKI_REVOKE);
	rig_say(RIG_MAIN, "$10\r\n0 900 me\na\r\n"
			  "-NOPERM this user has no permissions\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_not_null(strstr(rig.errors[1], "ACL rule"));
	rig_say(RIG_MAIN, "-NOPERM this user has no permissions\r\n:0\r\n");
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[2].outcome, DLKI_ANSWERED);
	cr_assert_str_eq(rows, "lock a 0;");
}
