/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops of all verbs at random, with answers of the right shape, losses, and a
 * clock that stands still at times: every op ends once, and no answer is taken
 * for nonsense.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/memcached/protocol/rig.h"

enum { SEEDS = 400, STEPS = 150, USED = 20, CLAIMS = 6, LOSSES = 5 };

static uint64_t state;

static unsigned int chance(unsigned int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 20) % n;
}

static int submitted[RIG_OPS], outcomes[DLKI_UNSENT + 1];
static int sock, losses, meta;
static unsigned int uptime_s;
static char heard[256 * 1024]; /* requests without an answer */
static size_t heard_len;

/* ---- The server ---------------------------------------------------------- */

static const char *item(void)
{
	static const char *const items[] = {
		RIG_ITEM(RIG_OWNER, "1"),
		RIG_ITEM(RIG_OTHER, "2"),
		"dlock1 " RIG_OWNER " 1700000003000001 0 me",
		"dlock1 " RIG_OTHER " 0.1 3 90000",
		"dlock1 " RIG_OWNER " 0.2 0 90000",
		"a cat",
		"",
	};

	return chance(3) ? rig_got(NULL, 0) :
			   rig_got(items[chance(7)], 1 + chance(3));
}

static const char *answer_to(const char *request)
{
	static const char *const drops[2][3] = {
		{ "STORED\r\n", "NOT_FOUND\r\n", "EXISTS\r\n" },
		{ "HD\r\n", "NF\r\n", "EX\r\n" },
	};

	if (strncmp(request, "stats", 5) == 0)
		return rig_stats(0, uptime_s);
	if (strncmp(request, "version", 7) == 0)
		return "VERSION 1.6.18\r\n";
	if (strncmp(request, "mn", 2) == 0)
		return meta ? "MN\r\n" : "ERROR\r\n";
	if (strncmp(request, "md", 2) == 0)
		return meta ? drops[1][chance(3)] :
			      (chance(4) ? drops[1][chance(3)] : "ERROR\r\n");
	if (strncmp(request, "mg", 2) == 0 || strncmp(request, "gets", 4) == 0)
		return item();
	if (chance(12) == 0)
		return "SERVER_ERROR out of memory storing object\r\n";
	if (strncmp(request, "add", 3) == 0)
		return chance(4) ? "STORED\r\n" : "NOT_STORED\r\n";
	return drops[0][chance(3)];
}

/* Return the length of the first request, with the data. */
static size_t request_len(void)
{
	const char *end = memchr(heard, '\n', heard_len), *data;

	if (!end)
		return 0;
	if (strncmp(heard, "add", 3) != 0 && strncmp(heard, "cas", 3) != 0)
		return (size_t)(end + 1 - heard);
	data = memchr(end + 1, '\n', heard_len - (size_t)(end + 1 - heard));
	return data ? (size_t)(data + 1 - heard) : 0;
}

static void hear(void)
{
	const char *more = rig_heard(sock);
	size_t n = strlen(more);

	cr_assert_lt(heard_len + n, sizeof(heard));
	memcpy(heard + heard_len, more, n + 1);
	heard_len += n;
}

static int is_open(void)
{
	return rig.world.socks[sock].is_open;
}

/* A reply, whole or in two pieces. */
static void answer(void)
{
	const char *bytes, *why;
	size_t len, n, cut;

	hear();
	len = request_len();
	if (len == 0 || !is_open())
		return;
	bytes = answer_to(heard);
	n = strlen(bytes);
	cut = chance((unsigned int)n);
	script_says_bytes(&rig.world, sock, bytes, cut);
	if (chance(2))
		rig_turn();
	script_says_bytes(&rig.world, sock, bytes + cut, n - cut);
	rig_turn();
	why = rig.e->links[0]->why.text;
	cr_assert(is_open() || strstr(why, "no answer in time"), "%s", why);
	memmove(heard, heard + len, heard_len - len + 1);
	heard_len -= len;
}

/* Greet a connection that the client has begun. */
static void greet(void)
{
	if (rig.world.opened == sock + 1)
		return;
	sock = rig.world.opened - 1;
	heard_len = 0;
	script_connected(&rig.world, sock);
	rig_turn();
	rig_welcome(sock, uptime_s, meta);
}

static void lose(void)
{
	if (losses++ < LOSSES && is_open())
		script_ends(&rig.world, sock);
	rig_turn();
}

/* ---- The storm ----------------------------------------------------------- */

static char claims[CLAIMS][512];

static int is_claim_busy(const void *claim)
{
	for (int i = 0; i < USED; i++) {
		if (rig.ops[i].claim == claim &&
		    rig.ops[i].state != DLKI_OP_IDLE)
			return 1;
	}
	return 0;
}

/* Even ops ask, odd ones release: both may be under way for a claim. */
static void submit_some(void)
{
	static struct dlk_request requests[3];
	static const enum dlki_verb asks[] = { DLKI_ATTEMPT, DLKI_ATTEMPT,
					       DLKI_RENEW,   DLKI_WATCH,
					       DLKI_REVOKE,  DLKI_BREAK,
					       DLKI_INSPECT };
	int i = (int)chance(USED);
	struct dlki_op *op = &rig.ops[i];
	enum dlki_verb verb = i % 2 ? DLKI_RELEASE : asks[chance(7)];
	void *claim = claims[chance(CLAIMS)];

	if (op->state != DLKI_OP_IDLE ||
	    (verb != DLKI_RELEASE && is_claim_busy(claim)))
		return;
	requests[0] = requests[1] = requests[2] = rig_request;
	requests[1].mode = requests[2].mode = DLK_SHARED;
	requests[2].kind = DLK_SEMAPHORE;
	requests[2].limit = 3;
	*op = (struct dlki_op){ .claim = claim };
	op->request = &requests[(size_t)((char *)claim - claims[0]) / 512 % 3];
	if (verb == DLKI_BREAK && op->request == &requests[2] &&
	    submitted[i] % 2 == 0) {
		verb = DLKI_RESIZE;
		op->claim = NULL;
	}
	op->is_last = chance(2) == 0;
	op->deadline = chance(4) ? DLK_FOREVER :
				   rig.world.clock + chance(60) * DLK_MS;
	rig_submit(i, verb);
	submitted[i]++;
}

static void pass_time(void)
{
	unsigned int ms = chance(300);

	if (chance(4))
		uptime_s += (unsigned int)(chance(1000) < ms);
	rig_turn_until(rig.world.clock + ms * DLK_MS);
}

static void step(void)
{
	switch (chance(12)) {
	case 0:
	case 1:
	case 2:
		submit_some();
		break;
	case 3:
		dlki_cancel(&rig.ops[chance(USED)]);
		rig_turn();
		break;
	case 4:
		if (chance(10) == 0)
			lose();
		else
			pass_time();
		break;
	default:
		for (unsigned int i = chance(12); i > 0; i--)
			answer();
	}
	greet();
}

static void storm(uint64_t seed)
{
	state = seed * UINT64_C(0x9e3779b97f4a7c15);
	memset(submitted, 0, sizeof(submitted));
	memset(claims, 0, sizeof(claims));
	heard_len = 0;
	sock = losses = 0;
	uptime_s = 100;
	meta = seed % 2 == 0;
	rig_begin_up("", meta);
	cr_assert_leq(rig.e->protocol->claim_size, sizeof(claims[0]));
	for (int i = 0; i < STEPS; i++)
		step();
	for (int i = 0; i < USED; i++)
		outcomes[rig.ops[i].outcome]++;
	rig_end();
	for (int i = 0; i < USED; i++)
		cr_assert_eq(rig.ended[i], submitted[i], "seed %d, op %d",
			     (int)seed, i);
}

Test(memcached_storm, every_op_ends_once)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		storm(seed);
	for (int i = DLKI_GRANTED; i <= DLKI_UNSENT; i++)
		cr_assert(i == DLKI_AGAIN || outcomes[i] > SEEDS / 40, "%d: %d",
			  i, outcomes[i]);
}
