/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis protocol of the engine, byte by byte, in a scripted world: the
 * ways of connections, and the ear. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/redis/protocol/rig.h"

TestSuite(redis_protocol, .init = rig_up, .fini = rig_end);

/* ---- Verbs --------------------------------------------------------------- */

Test(redis_protocol, an_attempt_is_a_call_of_a_script)
{
	const char *heard;

	rig_submit(1, DLKI_ATTEMPT);
	heard = rig_heard(RIG_MAIN);
	cr_assert_eq(strncmp(heard, "*9\r\n$7\r\nEVALSHA\r\n$40\r\n", 22), 0);
	cr_assert_not_null(strstr(heard,
				  "$1\r\n2\r\n$11\r\ndlock:{lnn}\r\n$11\r\n"
				  "dlock:clock\r\n$32\r\n"
				  "00000000000000000000000000000001\r\n$5\r\n"
				  "10000\r\n$10\r\n10000 me\nn\r\n$54\r\n"
				  "f x 0 101 dlock:inbox:5a5a"));
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[1].token, 1700000000000001);
	cr_assert_eq(rig.ops[1].lease_ms, 10000);
}

Test(redis_protocol, a_pipeline_may_come_in_bytes)
{
	static const char answers[] =
		"$16\r\n1700000000000001\r\n:9000\r\n:-1\r\n:1\r\n:0\r\n"
		"$20\r\nB 7 1700000000000002\r\n";

	rig_submit(1, DLKI_ATTEMPT);
	rig_submit(2, DLKI_RENEW);
	rig_submit(3, DLKI_RENEW);
	rig_submit(4, DLKI_RELEASE);
	rig_submit(5, DLKI_RELEASE);
	rig_submit(6, DLKI_ATTEMPT);
	rig_say_slowly(RIG_MAIN, answers);
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[2].stood, 1);
	cr_assert_eq(rig.ops[3].stood, 0);
	cr_assert_eq(rig.ops[4].stood, 1);
	cr_assert_eq(rig.ops[5].stood, 0);
	cr_assert_eq(rig.ops[6].outcome, DLKI_BUSY);
	cr_assert_eq(rig.ops[6].look_in_ms, 7);
	cr_assert_eq(rig.ops[6].store_clock_us, 1700000000000002);
}

/* The client learns from it how far away the server is. */
Test(redis_protocol, the_answer_to_an_op_that_is_over_is_told_of)
{
	dlk_time since = rig.world.clock;

	rig_submit(1, DLKI_ATTEMPT);
	dlki_turn(rig.e, DLKI_ALL_SETS, since + 5 * DLK_MS);
	dlki_cancel(&rig.ops[1]);
	rig_turn();
	cr_assert_eq(rig.late, 0);
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n+PONG\r\n");
	cr_assert_eq(rig.late, 1);
	cr_assert_eq(rig.late_since, since);
	rig_submit(2, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, "$16\r\n1700000000000002\r\n");
	cr_assert_eq(rig.ops[2].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.late, 1);
}

Test(redis_protocol, errors_say_what_to_do)
{
	rig_submit(1, DLKI_ATTEMPT);
	rig_submit(2, DLKI_ATTEMPT);
	rig_submit(3, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, "-OOM command not allowed\r\n$1\r\nN\r\n"
			  "-READONLY You can't write\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert_str_eq(rig.errors[1],
			 "127.0.0.1:6379 has no memory left; raise maxmemory "
			 "or free some");
	cr_assert_not_null(strstr(rig.errors[2], "has lost its expiry"));
	cr_assert_not_null(strstr(rig.errors[3], "is a replica"));
	cr_assert(!rig.world.socks[RIG_MAIN].is_open);
}

/* ---- Nonsense ------------------------------------------------------------ */

/* The op of the answer has the error; later ops are only unanswered. */
static void expect_cut(const char *answer, const char *says)
{
	rig_begin_up("");
	rig_submit(1, DLKI_ATTEMPT);
	rig_submit(2, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, answer);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED, "%s", answer);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert_not_null(strstr(rig.errors[1], says), "%s", rig.errors[1]);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED, "%s", answer);
	cr_assert_str_eq(rig.errors[2], "", "%s", answer);
	cr_assert(!rig.world.socks[RIG_MAIN].is_open);
}

Test(redis_protocol, an_answer_without_sense_ends_the_connection)
{
	static const char odd[] = "127.0.0.1:6379 sent an answer that dlock "
				  "does not understand";

	expect_cut(":1\r\n", odd);
	expect_cut("*0\r\n", odd);
	expect_cut("$-1\r\n", odd);
	expect_cut("$3\r\nfoo\r\n", odd);
	expect_cut("$5\r\nB 1 x\r\n", odd);
	expect_cut("$7\r\nB 1 2 3\r\n", odd);
	expect_cut("$1\r\n0\r\n", odd);
	expect_cut("ERROR\r\n", "this is no Redis server");
}

Test(redis_protocol, an_answer_of_64_mib_is_not_waited_for)
{
	static char kib[1024];
	int n = 0;

	memset(kib, 'x', sizeof(kib));
	rig_submit(1, DLKI_ATTEMPT);
	script_says(&rig.world, RIG_MAIN, "$67108864\r\n");
	while (rig.world.socks[RIG_MAIN].is_open && n++ < 10 * 1024) {
		script_says_bytes(&rig.world, RIG_MAIN, kib, sizeof(kib));
		rig_turn();
	}
	cr_assert_leq(n, 4 * 1024 + 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_not_null(strstr(rig.errors[1], "a reply of over 4 MiB"));
}

/* ---- The ear ------------------------------------------------------------- */

#define WAKE(attempt)                                                          \
	"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$36\r\n" RIG_OWNER " " attempt      \
	" 0\r\n"

/* Byte by byte, and several at once. */
Test(redis_protocol, grant_messages_are_pushed_grants)
{
	rig_raise_ear();
	rig_publish("00000000000000000000000000000001 100 1700000000000009 "
		    "1700000000000005");
	cr_assert_eq(rig.pushed, 1);
	cr_assert_eq(rig.news_id, 100);
	cr_assert_eq(rig.news_token, 1700000000000009);
	cr_assert_eq(rig.news_clock, 1700000000000005);
	rig_publish("00000000000000000000000000000001 100 1700000000000010");
	cr_assert_eq(rig.pushed, 2);
	cr_assert_eq(rig.news_clock, 0);
	rig_publish("00000000000000000000000000000001 77 0");
	cr_assert_eq(rig.woken, 1);
	cr_assert_eq(rig.news_id, 77);
	rig_say(RIG_EAR, WAKE("7") WAKE("8"));
	cr_assert_eq(rig.woken, 3);
	cr_assert_eq(rig.news_id, 8);
	rig_publish("hello");
	rig_publish("00000000000000000000000000000001 100");
	rig_publish("00000000000000000000000000000001 100 1.7e15 5");
	rig_publish("00000000000000000000000000000001 100 5 5 5");
	cr_assert_eq(rig.pushed, 2);
	cr_assert_eq(rig.woken, 3);
	cr_assert(rig.world.socks[RIG_EAR].is_open);
}

/* Says nothing until the ear sends PING.  Returns when the silence began. */
static dlk_time quieten_ear(void)
{
	dlk_time quiet = rig.world.clock;

	for (int i = 0; i < 3; i++)
		dlki_turn(rig.e, DLKI_ALL_SETS, quiet + 5000 * DLK_MS);
	cr_assert_str_eq(rig_heard(RIG_EAR), PING);
	return quiet;
}

Test(redis_protocol, a_quiet_ear_asks_whether_the_server_is_there)
{
	dlk_time quiet;

	rig_raise_ear();
	(void)quieten_ear();
	rig_say(RIG_EAR, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
	quiet = quieten_ear();
	for (int i = 0; i < 5 && rig.world.socks[RIG_EAR].is_open; i++)
		dlki_turn(rig.e, DLKI_ALL_SETS, quiet + 7000 * DLK_MS);
	cr_assert(!rig.world.socks[RIG_EAR].is_open);
	cr_assert(rig.world.socks[RIG_MAIN].is_open);
}

/* PING is not permitted, or renamed. */
Test(redis_protocol, an_ear_without_the_right_to_ping_stays_up)
{
	static const char *const answers[] = {
		"-NOPERM this user has no permissions to run the 'ping' "
		"command\r\n",
		"-ERR unknown command 'PING', with args beginning with: \r\n",
	};

	for (int i = 0; i < 2; i++) {
		rig_begin_up("");
		rig_raise_ear();
		(void)quieten_ear();
		rig_say(RIG_EAR, answers[i]);
		cr_assert(rig.world.socks[RIG_EAR].is_open);
		cr_assert_eq(rig.warned, 0);
	}
}

/* ---- The greeting -------------------------------------------------------- */

Test(redis_protocol, a_greeting_logs_in_and_names_us)
{
	rig_begin("redis://u:secret@h/3?client_name=me");
	cr_assert_str_eq(rig_heard(RIG_MAIN),
			 "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$6\r\nsecret\r\n"
			 "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
			 "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$2\r\nme\r\n"
			 "*1\r\n$4\r\nINFO\r\n");
	rig_say(RIG_MAIN, "+OK\r\n+OK\r\n");
	cr_assert(!dlki_engine_is_up(rig.e));
	rig_say(RIG_MAIN, "-NOPERM this user has no permissions\r\n"
			  "-NOPERM this user has no permissions\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
}

/* CLIENT and INFO are renamed. */
Test(redis_protocol, a_greeting_need_not_name_us)
{
	rig_begin("redis://h/?client_name=me");
	rig_say(RIG_MAIN, "-ERR unknown command 'CLIENT', with args beginning "
			  "with: 'SETNAME' 'me' \r\n"
			  "-ERR unknown command 'INFO', with args beginning "
			  "with: \r\n");
	cr_assert(dlki_engine_is_up(rig.e));
}

Test(redis_protocol, an_old_server_is_refused)
{
	rig_begin("redis://h");
	rig_say_string(RIG_MAIN, "redis_version:6.0.9\r\n");
	rig_submit(1, DLKI_ATTEMPT);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[1], "127.0.0.1:6379 is Redis 6.0.9; locks "
					"need 6.2 or newer");
}
