/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails, for every n: each op of every verb still ends
 * once, and no memory is lost (which the address sanitizer tells). */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/loop/shortage.h"
#include "tests/redis/protocol/rig.h"

/* ---- The scenario -------------------------------------------------------- */

#define SCANNED                                                                \
	"*2\r\n$1\r\n0\r\n*2\r\n$11\r\ndlock:{laa}\r\n$11\r\ndlock:{lbb}\r\n"

static int submitted[RIG_OPS];

static void say(int sock, const char *bytes)
{
	if (rig.world.opened > sock && rig.world.socks[sock].is_open)
		script_says(&rig.world, sock, bytes);
	rig_turn();
}

/* Submit an op of each verb, from op `i` on. */
static void submit_all(int i)
{
	for (int verb = DLKI_ATTEMPT; verb < DLKI_VERBS; verb++, i++) {
		rig.ops[i].token = 1700000000000001;
		submitted[i] += rig_try(i, (enum dlki_verb)verb);
	}
	dlki_push(rig.e);
}

static void connect_sock(int sock)
{
	for (int i = 0; i < 20 && rig.world.opened <= sock; i++)
		dlki_turn(rig.e, DLKI_ALL_SETS, rig.world.clock + 500 * DLK_MS);
	if (rig.world.opened > sock && rig.world.socks[sock].is_open)
		script_connected(&rig.world, sock);
	rig_turn();
}

static void run(void)
{
	submit_all(1);
	say(RIG_MAIN, "$20\r\nB 0 1700000000000002\r\n:5\r\n:1\r\n:1\r\n");
	connect_sock(RIG_EAR);
	say(RIG_EAR, "$12\r\nrun_id:one\r\n\r\n");
	say(RIG_EAR, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
	say(RIG_MAIN, ":0\r\n$16\r\n1700000000000001\r\n*1\r\n$5\r\nF 250\r\n"
		      ":1\r\n" SCANNED);
	say(RIG_EAR,
	    "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$36\r\n" RIG_OWNER " 0 0\r\n");
	say(RIG_MAIN, "$3\r\n0 0\r\n:1\r\n$-1\r\n$10\r\n0 900 me\nb\r\n");
	submit_all(20);
	say(RIG_MAIN, "$1\r\nN\r\n:-1\r\n-OOM no\r\n-NOSCRIPT no\r\n");
	if (rig.world.socks[RIG_MAIN].is_open)
		script_ends(&rig.world, RIG_MAIN);
	rig_turn();
	submit_all(40);
	connect_sock(rig.world.opened);
	say(rig.world.opened - 1, "$12\r\nrun_id:one\r\n\r\n");
	say(rig.world.opened - 1, "-READONLY You can't write\r\n");
}

/* Returns whether the n-th allocation was reached. */
static int scenario(long n)
{
	int reached;

	memset(submitted, 0, sizeof(submitted));
	rig_begin_up("");
	shortage_at(n);
	run();
	reached = shortage_came();
	shortage_at(0);
	rig_end();
	for (int i = 0; i < RIG_OPS; i++)
		cr_assert_eq(rig.ended[i], submitted[i],
			     "allocation %ld, op %d", n, i);
	return reached;
}

Test(redis_memory, every_op_ends_once_whichever_allocation_fails)
{
	long n = 1;

	while (scenario(n))
		n++;
	cr_assert_gt(n, 15, "%ld", n);
	/* With all the memory, the first ops of all verbs are answered. */
	for (int i = 1; i <= DLKI_VERBS - DLKI_ATTEMPT; i++)
		cr_assert_eq(rig.ops[i].outcome,
			     i == 1 ? DLKI_BUSY : DLKI_ANSWERED, "%d", i);
}
