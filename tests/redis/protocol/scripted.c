/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis protocol of the engine, byte by byte, in a scripted world. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "core/loop/engine.h"
#include "core/loop/state.h"
#include "core/net/address.h"
#include "core/uri/uri.h"
#include "tests/loop/script.h"

extern const struct dlock_backend dlki_redis_backend;

enum { OPS = 8, MAIN = 0, EAR = 1 };

static const dlk_time never = DLK_FOREVER;

static struct script world;
static struct dlki_engine *engine;
static struct dlk_uri *uri;
static struct dlki_op ops[OPS];
static int ended[OPS];
static char errors[OPS][240];
static int looks, woken, pushed;
static uint64_t news_id, news_token, news_clock;

static const struct dlk_request request = {
	.name = "n",
	.key = "lnn",
	.owner = "00000000000000000000000000000001",
	.label = "me",
	.kind = DLK_LOCK,
	.mode = DLK_EXCLUSIVE,
};

/* ---- The rig ------------------------------------------------------------- */

static void on_done(struct dlki_op *op, dlk_time now)
{
	(void)now;
	ended[op - ops]++;
	if (op->error)
		memcpy(errors[op - ops], op->error->text, 240);
}

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock,
		      int64_t lease_ms, dlk_time now)
{
	(void)arg;
	(void)now;
	cr_assert_eq(lease_ms, 5000);
	pushed++;
	news_id = id;
	news_token = token;
	news_clock = clock;
}

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	(void)arg;
	(void)now;
	woken++;
	news_id = id;
}

static void on_look(void *arg, dlk_time now)
{
	(void)arg;
	(void)now;
	looks++;
}

static void turn(void)
{
	dlki_turn(engine, DLKI_ALL_SETS, world.clock);
}

/* The server answers with a string. */
static void say_string(int sock, const char *text)
{
	char bulk[200];

	snprintf(bulk, sizeof(bulk), "$%zu\r\n%s\r\n", strlen(text), text);
	script_says(&world, sock, bulk);
	turn();
}

static void begin(const char *text)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wake = on_wake,
		.look_again = on_look,
	};
	struct dlki_address address;
	struct dlki_engine_options options = {
		.world = &world.base,
		.protocol = &dlki_redis_protocol,
		.label = "me",
		.addresses = &address,
		.n_addresses = 1,
		.news = &news,
		.connect_ms = 2000,
		.patience_ms = 1000,
	};
	struct dlk_error err;

	script_init(&world);
	cr_assert_eq(dlki_uri_parse(&uri, text, dlki_redis_backend.params, NULL,
				    &err),
		     0);
	options.uri = uri;
	cr_assert_eq(dlki_address_tcp(&address, "127.0.0.1", 6379), 0);
	engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(engine);
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_push(engine);
	script_connected(&world, MAIN);
	turn();
}

static void begin_up(void)
{
	begin("redis://h?ttl=10s");
	cr_assert_str_eq(script_heard(&world, MAIN),
			 "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n");
	say_string(MAIN, "redis_version:7.0.15\r\n");
	cr_assert(dlki_engine_is_up(engine));
}

static void end(void)
{
	dlki_unlock(engine);
	dlki_engine_free(engine);
	dlki_uri_free(uri);
	script_free(&world);
}

static void submit(int i, enum dlki_verb verb)
{
	ops[i].verb = verb;
	ops[i].request = &request;
	ops[i].id = 100 + (uint64_t)i;
	ops[i].deadline = ops[i].deadline ? ops[i].deadline : never;
	ops[i].done = on_done;
	cr_assert_eq(dlki_submit(engine, &ops[i]), 0);
	dlki_push(engine);
}

/* BUSY, and the ear connects, subscribes and is heard. */
static void raise_ear(void)
{
	submit(0, DLKI_ATTEMPT);
	say_string(MAIN, "B 0 1700000000000000");
	cr_assert_eq(ops[0].outcome, DLKI_BUSY);
	turn();
	cr_assert_eq(world.opened, 2);
	script_connected(&world, EAR);
	turn();
	cr_assert_str_eq(script_heard(&world, EAR),
			 "*2\r\n$9\r\nSUBSCRIBE\r\n$46\r\n"
			 "dlock:inbox:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a:c\r\n");
	script_says(&world, EAR, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
	turn();
	cr_assert_eq(looks, 1);
}

/* ---- Verbs --------------------------------------------------------------- */

Test(redis_protocol, an_attempt_is_a_call_of_a_script, .fini = end)
{
	const char *heard;

	begin_up();
	submit(1, DLKI_ATTEMPT);
	heard = script_heard(&world, MAIN);
	cr_assert_eq(strncmp(heard, "*9\r\n$7\r\nEVALSHA\r\n$40\r\n", 22), 0);
	cr_assert_not_null(strstr(heard,
				  "$1\r\n2\r\n$11\r\ndlock:{lnn}\r\n$11\r\n"
				  "dlock:clock\r\n$32\r\n"
				  "00000000000000000000000000000001\r\n$5\r\n"
				  "10000\r\n$10\r\n10000 me\nn\r\n$56\r\n"
				  "f x 0 101 dlock:inbox:5a5a"));
	script_says(&world, MAIN, "$16\r\n1700000000000001\r\n");
	turn();
	cr_assert_eq(ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(ops[1].token, 1700000000000001);
	cr_assert_eq(ops[1].lease_ms, 10000);
}

Test(redis_protocol, a_pipeline_may_come_in_bytes, .fini = end)
{
	static const char answers[] =
		"$16\r\n1700000000000001\r\n:9000\r\n:-1\r\n:1\r\n:0\r\n"
		"$20\r\nB 7 1700000000000002\r\n";

	begin_up();
	submit(1, DLKI_ATTEMPT);
	submit(2, DLKI_RENEW);
	submit(3, DLKI_RENEW);
	submit(4, DLKI_RELEASE);
	submit(5, DLKI_RELEASE);
	submit(6, DLKI_ATTEMPT);
	for (size_t i = 0; answers[i]; i++) {
		cr_assert_eq(ended[6], 0);
		script_says_bytes(&world, MAIN, answers + i, 1);
		turn();
	}
	cr_assert_eq(ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(ops[2].stood, 1);
	cr_assert_eq(ops[3].stood, 0);
	cr_assert_eq(ops[4].stood, 1);
	cr_assert_eq(ops[5].stood, 0);
	cr_assert_eq(ops[6].outcome, DLKI_BUSY);
	cr_assert_eq(ops[6].look_in_ms, 7);
	cr_assert_eq(ops[6].store_clock_us, 1700000000000002);
}

Test(redis_protocol, a_script_that_is_unknown_is_not_sent_again_by_itself,
     .fini = end)
{
	begin_up();
	submit(1, DLKI_ATTEMPT);
	submit(2, DLKI_RELEASE);
	script_heard(&world, MAIN);
	script_says(&world, MAIN,
		    "-NOSCRIPT No matching script.\r\n"
		    "-NOSCRIPT No matching script.\r\n");
	turn();
	cr_assert_eq(ops[1].outcome, DLKI_AGAIN);
	cr_assert_eq(ops[1].residue, DLKI_RESIDUE_NONE);
	cr_assert_eq(ops[2].outcome, DLKI_AGAIN);
	cr_assert_str_eq(script_heard(&world, MAIN), "");
	submit(1, DLKI_ATTEMPT);
	cr_assert_not_null(strstr(script_heard(&world, MAIN), "EVAL\r\n"));
	submit(2, DLKI_ATTEMPT);
	cr_assert_not_null(strstr(script_heard(&world, MAIN), "EVALSHA\r\n"));
}

Test(redis_protocol, the_answer_to_an_op_that_is_over_is_dropped, .fini = end)
{
	begin_up();
	ops[1].deadline = world.clock + 5;
	submit(1, DLKI_ATTEMPT);
	submit(2, DLKI_ATTEMPT);
	dlki_turn(engine, DLKI_ALL_SETS, world.clock + 5);
	cr_assert_eq(ops[1].outcome, DLKI_UNANSWERED);
	script_says(&world, MAIN,
		    "$16\r\n1700000000000001\r\n$16\r\n1700000000000002\r\n");
	turn();
	cr_assert_eq(ended[1], 1);
	cr_assert_eq(ops[2].token, 1700000000000002);
}

Test(redis_protocol, errors_say_what_to_do, .fini = end)
{
	begin_up();
	submit(1, DLKI_ATTEMPT);
	submit(2, DLKI_ATTEMPT);
	submit(3, DLKI_ATTEMPT);
	script_says(&world, MAIN,
		    "-OOM command not allowed\r\n$1\r\nN\r\n"
		    "-READONLY You can't write\r\n");
	turn();
	cr_assert_eq(ops[1].outcome, DLKI_FAILED);
	cr_assert_eq(ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert_str_eq(errors[1],
			 "127.0.0.1:6379 has no memory left; raise maxmemory "
			 "or free some");
	cr_assert_not_null(strstr(errors[2], "has lost its expiry"));
	cr_assert_not_null(strstr(errors[3], "is a replica"));
	cr_assert(!world.socks[MAIN].is_open);
}

/* ---- Nonsense ------------------------------------------------------------ */

static void expect_cut(const char *answer)
{
	begin_up();
	submit(1, DLKI_ATTEMPT);
	script_says(&world, MAIN, answer);
	turn();
	cr_assert_eq(ops[1].outcome, DLKI_UNANSWERED, "%s", answer);
	cr_assert(!world.socks[MAIN].is_open);
	end();
	memset(ops, 0, sizeof(ops));
}

Test(redis_protocol, an_answer_without_sense_ends_the_connection)
{
	expect_cut(":1\r\n");
	expect_cut("*0\r\n");
	expect_cut("$-1\r\n");
	expect_cut("$3\r\nfoo\r\n");
	expect_cut("$5\r\nB 1 x\r\n");
	expect_cut("$1\r\n0\r\n");
	expect_cut("ERROR\r\n");
}

Test(redis_protocol, an_answer_of_64_mib_is_not_waited_for, .fini = end)
{
	static char kib[1024];
	int n = 0;

	memset(kib, 'x', sizeof(kib));
	begin_up();
	submit(1, DLKI_ATTEMPT);
	script_says(&world, MAIN, "$67108864\r\n");
	while (world.socks[MAIN].is_open && n++ < 10 * 1024) {
		script_says_bytes(&world, MAIN, kib, sizeof(kib));
		turn();
	}
	cr_assert_leq(n, 4 * 1024 + 1);
	cr_assert_eq(ops[1].outcome, DLKI_UNANSWERED);
}

Test(redis_protocol, an_answer_that_was_not_asked_for_ends_the_connection,
     .fini = end)
{
	begin_up();
	script_says(&world, MAIN, ":1\r\n");
	turn();
	cr_assert(!world.socks[MAIN].is_open);
}

/* ---- The ear ------------------------------------------------------------- */

static void publish(const char *text)
{
	char message[200];

	snprintf(message, sizeof(message),
		 "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$%zu\r\n%s\r\n",
		 strlen(text), text);
	script_says(&world, EAR, message);
	turn();
}

Test(redis_protocol, grant_messages_are_pushed_grants, .fini = end)
{
	begin_up();
	raise_ear();
	publish("00000000000000000000000000000001 100 1700000000000009 "
		"1700000000000005");
	cr_assert_eq(pushed, 1);
	cr_assert_eq(news_id, 100);
	cr_assert_eq(news_token, 1700000000000009);
	cr_assert_eq(news_clock, 1700000000000005);
	publish("00000000000000000000000000000001 100 1700000000000010");
	cr_assert_eq(pushed, 2);
	cr_assert_eq(news_clock, 0);
	publish("00000000000000000000000000000001 77 0");
	cr_assert_eq(woken, 1);
	cr_assert_eq(news_id, 77);
	publish("hello");
	publish("00000000000000000000000000000001 100");
	publish("00000000000000000000000000000001 100 1.7e15 5");
	publish("00000000000000000000000000000001 100 5 5 5");
	cr_assert_eq(pushed, 2);
	cr_assert_eq(woken, 1);
	cr_assert(world.socks[EAR].is_open);
}

Test(redis_protocol, a_quiet_ear_asks_whether_the_server_is_there, .fini = end)
{
	dlk_time quiet;

	begin_up();
	raise_ear();
	quiet = world.clock;
	for (int i = 0; i < 3; i++)
		dlki_turn(engine, DLKI_ALL_SETS, quiet + 5000 * DLK_MS);
	cr_assert_str_eq(script_heard(&world, EAR), "*1\r\n$4\r\nPING\r\n");
	script_says(&world, EAR, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
	turn();
	quiet = world.clock;
	for (int i = 0; i < 3; i++)
		dlki_turn(engine, DLKI_ALL_SETS, quiet + 5000 * DLK_MS);
	cr_assert_str_eq(script_heard(&world, EAR), "*1\r\n$4\r\nPING\r\n");
	for (int i = 0; i < 5 && world.socks[EAR].is_open; i++)
		dlki_turn(engine, DLKI_ALL_SETS, quiet + 7000 * DLK_MS);
	cr_assert(!world.socks[EAR].is_open);
	cr_assert(world.socks[MAIN].is_open);
}

/* ---- The greeting -------------------------------------------------------- */

Test(redis_protocol, a_greeting_logs_in_and_names_us, .fini = end)
{
	begin("redis://u:secret@h/3?client_name=me&db=3");
	cr_assert_str_eq(script_heard(&world, MAIN),
			 "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$6\r\nsecret\r\n"
			 "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
			 "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$2\r\nme\r\n"
			 "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n");
	script_says(&world, MAIN, "+OK\r\n+OK\r\n");
	turn();
	cr_assert(!dlki_engine_is_up(engine));
	script_says(&world, MAIN,
		    "-NOPERM this user has no permissions\r\n"
		    "-NOPERM this user has no permissions\r\n");
	turn();
	cr_assert(dlki_engine_is_up(engine));
}

Test(redis_protocol, an_old_server_is_refused, .fini = end)
{
	begin("redis://h");
	say_string(MAIN, "redis_version:6.0.9\r\n");
	submit(1, DLKI_ATTEMPT);
	turn();
	cr_assert_eq(ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(errors[1], "127.0.0.1:6379 is Redis 6.0.9; locks "
				    "need 6.2 or newer");
}

Test(redis_protocol, a_server_that_is_loading_is_asked_again, .fini = end)
{
	begin("redis://h");
	script_says(&world, MAIN, "-LOADING Redis is loading\r\n");
	turn();
	cr_assert(!world.socks[MAIN].is_open);
	submit(1, DLKI_ATTEMPT);
	for (int i = 0; i < 5 && world.opened < 2; i++)
		dlki_turn(engine, DLKI_ALL_SETS, world.clock + 5000 * DLK_MS);
	cr_assert_eq(world.opened, 2);
	cr_assert_eq(ended[1], 0);
}
