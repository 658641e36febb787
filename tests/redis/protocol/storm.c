/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops of all verbs at random, with answers and errors of the right shape: every
 * op ends once, and no answer is taken for nonsense, as by an op of another
 * verb.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/redis/protocol/rig.h"

enum { SEEDS = 400, STEPS = 120, USED = 24, REQUESTS = 4096, LOSSES = 5 };

static uint64_t state;

static unsigned int chance(unsigned int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 20) % n;
}

static int submitted[RIG_OPS];

/* ---- The server ---------------------------------------------------------- */

/* The main connection's requests without an answer: 'S' SCAN, 'P' PING, 'E' a
 * script. */
static char requests[REQUESTS];
static size_t first, end;
static int main_sock, losses, n_socks;

static void hear(void)
{
	const char *p = rig_heard(main_sock);

	for (p = strchr(p, '*'); p; p = strchr(p + 1, '*')) {
		if (p[1] == '\0' || strncmp(p + 2, "\r\n$", 3) != 0)
			continue;
		cr_assert_lt(end, REQUESTS);
		requests[end++] = p[8]; /* of the command's name */
	}
}

#define TWO_KEYS                                                               \
	"*2\r\n$1\r\n0\r\n*2\r\n$11\r\ndlock:{lcc}\r\n"                        \
	"$13\r\ndlock:{saa}:q\r\n"

static const char *answer_to(char kind)
{
	static const char *const scans[] = {
		"*2\r\n$1\r\n0\r\n*0\r\n",
		"*2\r\n$1\r\n7\r\n*1\r\n$11\r\ndlock:{lbb}\r\n",
		TWO_KEYS,
	};
	struct dlki_front front;
	const struct dlki_op *op;

	cr_assert(dlki_front(rig.engine->links[0], &front));
	op = dlki_front_op(rig.engine->links[0], 0);
	if (kind == 'P')
		return "+PONG\r\n";
	if (kind == 'S')
		return scans[chance(3)];
	switch (front.verb) {
	case DLKI_ATTEMPT:
		return chance(2) ? "$16\r\n1700000000000001\r\n" :
				   "$20\r\nB 7 1700000000000002\r\n";
	case DLKI_WATCH:
		return chance(2) ? "$3\r\n0 0\r\n" : "$4\r\n1 99\r\n";
	case DLKI_BREAK:
		/* Without an op, either answer will do. */
		return op && op->requests == 1 ? "$16\r\n1700000000000001\r\n" :
						 ":1\r\n";
	case DLKI_INSPECT:
		return chance(2) ? "*0\r\n" : "*1\r\n$5\r\nF 250\r\n";
	case DLKI_LIST:
		return chance(2) ? "$-1\r\n" : "$10\r\n7 900 me\na\r\n";
	default:
		return ":1\r\n";
	}
}

/* A reply, whole or in two pieces. */
static void reply(const char *bytes)
{
	size_t n = strlen(bytes), cut = chance((unsigned int)n);

	script_says_bytes(&rig.world, main_sock, bytes, cut);
	if (chance(2))
		rig_turn();
	script_says_bytes(&rig.world, main_sock, bytes + cut, n - cut);
	rig_turn();
}

static void answer(void)
{
	static const char *const errors[] = { "-NOSCRIPT no\r\n", "-OOM no\r\n",
					      "-NOPERM no\r\n" };
	const char *why;

	hear();
	if (first == end || !rig.world.socks[main_sock].is_open)
		return;
	if (chance(12) == 0)
		reply(errors[chance(3)]);
	else
		reply(answer_to(requests[first]));
	why = rig.engine->links[0]->why.text;
	cr_assert(rig.world.socks[main_sock].is_open ||
			  strstr(why, "no answer in time"),
		  "%s", why);
	first++;
}

/* ---- Losses -------------------------------------------------------------- */

static void lose(void)
{
	if (losses++ < LOSSES)
		script_ends(&rig.world, main_sock);
	rig_turn();
}

/* Greet a connection that the client has begun. */
static void greet(int sock)
{
	script_connected(&rig.world, sock);
	rig_turn();
	rig_heard(sock);
	if (rig.world.socks[sock].set == DLKI_ANSWERS) {
		main_sock = sock;
		first = end = 0;
	}
	rig_say(sock, "$12\r\nrun_id:one\r\n\r\n");
	if (rig.world.socks[sock].set == DLKI_NEWS)
		rig_say(sock, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
}

static void greet_all(void)
{
	for (; n_socks < rig.world.opened; n_socks++) {
		if (rig.world.socks[n_socks].is_open)
			greet(n_socks);
	}
}

/* ---- The storm ----------------------------------------------------------- */

static void submit_some(void)
{
	int i = (int)chance(USED);
	struct dlki_op *op = &rig.ops[i];

	if (op->state != DLKI_OP_IDLE)
		return;
	*op = (struct dlki_op){ .token = 1700000000000001 };
	op->deadline = chance(4) ? DLK_FOREVER :
				   rig.world.clock + chance(50) * DLK_MS;
	op->lease_heard = chance(2) ? rig.world.clock - DLK_MS : 0;
	op->closing = chance(8) == 0;
	rig_submit(i, DLKI_ATTEMPT + (enum dlki_verb)chance(DLKI_VERBS -
							    DLKI_ATTEMPT));
	submitted[i]++;
}

static void step(void)
{
	switch (chance(10)) {
	case 0:
	case 1:
	case 2:
	case 3:
		submit_some();
		break;
	case 4:
		dlki_cancel(&rig.ops[chance(USED)]);
		rig_turn();
		break;
	case 5:
		if (chance(10) == 0)
			lose();
		else
			dlki_turn(rig.engine, DLKI_ALL_SETS,
				  rig.world.clock + chance(200) * DLK_MS);
		break;
	default:
		answer();
	}
	greet_all();
}

Test(redis_storm, every_op_ends_once)
{
	int answered = 0, lists = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		state = seed * UINT64_C(0x9e3779b97f4a7c15);
		memset(submitted, 0, sizeof(submitted));
		first = end = 0;
		main_sock = losses = 0;
		n_socks = 1;
		rig_begin_up("");
		for (int i = 0; i < STEPS; i++)
			step();
		for (int i = 0; i < USED; i++) {
			int is_out = rig.ops[i].outcome == DLKI_ANSWERED;

			answered += is_out;
			lists += is_out && rig.ops[i].verb == DLKI_LIST;
		}
		rig_end();
		for (int i = 0; i < USED; i++)
			cr_assert_eq(rig.ended[i], submitted[i],
				     "seed %d, op %d", (int)seed, i);
	}
	cr_assert_gt(answered, SEEDS);
	cr_assert_gt(lists, SEEDS / 20);
}
