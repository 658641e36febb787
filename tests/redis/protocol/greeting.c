/* SPDX-License-Identifier: Apache-2.0 */
/* The greeting of the Redis protocol: INFO, and the ear. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "core/loop/engine.h"
#include "core/loop/state.h"
#include "core/net/address.h"
#include "core/uri/uri.h"
#include "tests/loop/script.h"

extern const struct dlock_backend dlki_redis_backend;

enum { MAIN = 0, EAR = 1 };

static struct script world;
static struct dlki_engine *engine;
static struct dlk_uri *uri;
static struct dlki_op op;
static char error[240], told[8][400];
static int warnings, moves, looks;

static void on_moved(void *arg, const char *text, dlk_time now)
{
	(void)arg;
	(void)text;
	(void)now;
	moves++;
}

static void on_warn(void *arg, const char *text)
{
	(void)arg;
	snprintf(told[warnings++ % 8], sizeof(told[0]), "%s", text);
}

static void on_look(void *arg, dlk_time now)
{
	(void)arg;
	(void)now;
	looks++;
}

static void on_done(struct dlki_op *o, dlk_time now)
{
	(void)now;
	if (o->error)
		memcpy(error, o->error->text, sizeof(error));
}

static void turn(void)
{
	dlki_turn(engine, DLKI_ALL_SETS, world.clock);
}

static void say(int sock, const char *bytes)
{
	script_says(&world, sock, bytes);
	turn();
}

static void say_info(int sock, const char *text)
{
	char bulk[400];

	snprintf(bulk, sizeof(bulk), "$%zu\r\n%s\r\n", strlen(text), text);
	say(sock, bulk);
}

/* Socket `sock` is connected, and has asked this. */
static void connect_sock(int sock, const char *asked)
{
	for (int i = 0; world.opened <= sock && i < 5; i++)
		dlki_turn(engine, DLKI_ALL_SETS, world.clock + 5000 * DLK_MS);
	cr_assert_eq(world.opened, sock + 1);
	script_connected(&world, sock);
	turn();
	cr_assert_str_eq(script_heard(&world, sock), asked);
}

#define INFO "*1\r\n$4\r\nINFO\r\n"
#define INFO_SERVER "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"
#define SUBSCRIBE                                                              \
	"*2\r\n$9\r\nSUBSCRIBE\r\n$44\r\n"                                     \
	"dlock:inbox:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a\r\n"
#define SUBSCRIBED "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"

static void begin(void)
{
	static const struct dlki_news news = {
		.moved = on_moved,
		.warn = on_warn,
		.look_again = on_look,
	};
	struct dlki_engine_options options = {
		.world = &world.base,
		.protocol = &dlki_redis_protocol,
		.label = "me",
		.host = "127.0.0.1",
		.port = 6379,
		.news = &news,
		.connect_ms = 2000,
		.patience_ms = 1000,
	};
	struct dlk_error err;

	script_init(&world);
	cr_assert_eq(dlki_uri_parse(&uri, "redis://h?ttl=10s",
				    dlki_redis_backend.params, NULL, &err),
		     0);
	options.uri = uri;
	engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(engine);
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_push(engine);
	connect_sock(MAIN, INFO);
}

static void end(void)
{
	dlki_unlock(engine);
	dlki_engine_free(engine);
	dlki_uri_free(uri);
	script_free(&world);
}

TestSuite(redis_greeting, .fini = end);

static void attempt(void)
{
	static const struct dlk_request request = {
		.name = "n",
		.key = "lnn",
		.owner = "00000000000000000000000000000001",
		.label = "me",
		.kind = DLK_LOCK,
		.mode = DLK_EXCLUSIVE,
	};

	op = (struct dlki_op){
		.verb = DLKI_ATTEMPT,
		.request = &request,
		.id = 100,
		.deadline = DLK_FOREVER,
		.done = on_done,
	};
	cr_assert_eq(dlki_submit(engine, &op), 0);
	dlki_push(engine);
	turn();
}

/* BUSY, and the ear is connected. */
static void begin_with_ear(void)
{
	begin();
	say_info(MAIN, "run_id:one\r\n");
	attempt();
	say(MAIN, "$3\r\nB 0\r\n");
	cr_assert_eq(op.outcome, DLKI_BUSY);
	connect_sock(EAR, INFO_SERVER SUBSCRIBE);
}

/* ---- The server ---------------------------------------------------------- */

Test(redis_greeting, what_makes_a_server_lose_locks_is_told_once)
{
	static const char bad[] = "redis_version:7.0.15\r\nrun_id:one\r\n"
				  "maxmemory_policy:volatile-lru;!\r\n"
				  "aof_enabled:0\r\nrole:slave\r\n";

	begin();
	say_info(MAIN, bad);
	cr_assert_eq(warnings, 3);
	cr_assert_str_eq(told[0], "127.0.0.1:6379 is a replica and takes no "
				  "locks; give the master");
	cr_assert_str_eq(
		told[1],
		"127.0.0.1:6379 drops keys when its memory is full "
		"(maxmemory-policy volatile-lru), and locks with them; "
		"noeviction is right for locks");
	cr_assert_str_eq(told[2],
			 "127.0.0.1:6379 keeps no log of writes (appendonly "
			 "no): when it restarts, every holder loses its lock");
	script_ends(&world, MAIN);
	turn();
	connect_sock(1, INFO_SERVER);
	say_info(1, bad);
	cr_assert(dlki_engine_is_up(engine));
	cr_assert_eq(warnings, 3);
}

Test(redis_greeting, a_good_server_is_not_warned_of)
{
	begin();
	say_info(MAIN, "redis_version:6.2.0\r\nrun_id:one\r\n"
		       "maxmemory_policy:noeviction\r\naof_enabled:1\r\n"
		       "role:master\r\n");
	cr_assert(dlki_engine_is_up(engine));
	cr_assert_eq(warnings, 0);
}

Test(redis_greeting, a_server_that_keeps_info_is_its_address)
{
	begin();
	say(MAIN, "-NOPERM this user has no permissions\r\n");
	cr_assert(dlki_engine_is_up(engine));
	cr_assert_eq(warnings, 1);
	cr_assert_str_eq(told[0],
			 "127.0.0.1:6379 keeps INFO from us: a restart is not "
			 "noticed until a renewal finds holds gone; permit "
			 "INFO");
	cr_assert_str_eq(engine->endpoint.home, "at 127.0.0.1:6379");
}

Test(redis_greeting, the_run_is_the_identity)
{
	begin();
	say_info(MAIN, "redis_version:7.0.15\r\nrun_id:0aB9\x01x\r\n");
	cr_assert_str_eq(engine->endpoint.home, "0aB9");
	script_ends(&world, MAIN);
	turn();
	connect_sock(1, INFO_SERVER);
	say_info(1, "run_id:other\r\n");
	cr_assert_eq(moves, 1);
}

Test(redis_greeting, a_replica_is_left)
{
	begin();
	say_info(MAIN, "run_id:one\r\n");
	attempt();
	say(MAIN, "-READONLY You can't write against a read only replica.\r\n");
	cr_assert_eq(op.outcome, DLKI_FAILED);
	cr_assert_eq(engine->endpoint.left, 1);
}

Test(redis_greeting, memcached_is_told_from_redis)
{
	begin();
	attempt();
	say(MAIN, "ERROR\r\n");
	cr_assert_eq(op.outcome, DLKI_FAILED);
	cr_assert_str_eq(error, "127.0.0.1:6379 answers as memcached does, not "
				"as Redis: use memcached:// for it");
}

Test(redis_greeting, nonsense_is_refused)
{
	begin();
	attempt();
	say(MAIN, ":1\r\n");
	cr_assert_eq(op.outcome, DLKI_FAILED);
	cr_assert_str_eq(error, "127.0.0.1:6379 sent an answer that dlock does "
				"not understand");
}

/* ---- The ear ------------------------------------------------------------- */

Test(redis_greeting, the_ear_must_be_at_the_same_server)
{
	begin_with_ear();
	say_info(EAR, "run_id:one\r\n");
	cr_assert_eq(looks, 0);
	say(EAR, SUBSCRIBED);
	cr_assert_eq(looks, 1);
	script_ends(&world, EAR);
	turn();
	connect_sock(2, INFO_SERVER SUBSCRIBE);
	say_info(2, "run_id:two\r\n");
	say(2, SUBSCRIBED);
	cr_assert_eq(looks, 1);
	cr_assert(!world.socks[2].is_open);
	cr_assert(!world.socks[MAIN].is_open, "the main link looks");
}

Test(redis_greeting, an_ear_that_is_refused_is_told_of_once)
{
	begin_with_ear();
	say_info(EAR, "run_id:one\r\n");
	say(EAR, "-NOPERM this user has no permissions\r\n");
	connect_sock(2, INFO_SERVER SUBSCRIBE);
	say_info(2, "run_id:one\r\n");
	say(2, "-NOPERM this user has no permissions\r\n");
	cr_assert_eq(warnings, 1);
	cr_assert_eq(strncmp(told[0],
			     "waiters poll more often: 127.0.0.1:6379 "
			     "does not permit this user",
			     65),
		     0, "%s", told[0]);
	cr_assert(world.socks[MAIN].is_open);
	attempt();
	say(MAIN, "$16\r\n1700000000000001\r\n");
	cr_assert_eq(op.outcome, DLKI_GRANTED);
}
