/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/redis/protocol/rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "core/net/address.h"
#include "core/uri/uri.h"

extern const struct dlock_backend dlki_redis_backend;

struct rig rig;

struct dlk_request rig_request = {
	.name = "n",
	.key = "lnn",
	.owner = RIG_OWNER,
	.label = "me",
	.kind = DLK_LOCK,
	.mode = DLK_EXCLUSIVE,
};

/* ---- Ends and news ------------------------------------------------------- */

static void on_done(struct dlki_op *op, dlk_time now)
{
	(void)now;
	rig.ended[op - rig.ops]++;
	if (op->error)
		memcpy(rig.errors[op - rig.ops], op->error->text, 240);
}

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock,
		      int64_t lease_ms, dlk_time now)
{
	(void)arg;
	(void)now;
	cr_assert_eq(lease_ms, 5000);
	rig.pushed++;
	rig.news_id = id;
	rig.news_token = token;
	rig.news_clock = clock;
}

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.woken++;
	rig.news_id = id;
}

static void on_look(void *arg, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.looks++;
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.wanted++;
	snprintf(rig.owner, sizeof(rig.owner), "%s", owner);
}

static void on_warn(void *arg, const char *text)
{
	(void)arg;
	rig.warned++;
	snprintf(rig.warning, sizeof(rig.warning), "%s", text);
}

/* ---- The server ---------------------------------------------------------- */

void rig_turn(void)
{
	dlki_turn(rig.engine, DLKI_ALL_SETS, rig.world.clock);
}

void rig_say(int sock, const char *bytes)
{
	script_says(&rig.world, sock, bytes);
	rig_turn();
}

void rig_say_slowly(int sock, const char *bytes)
{
	for (size_t i = 0; bytes[i]; i++) {
		script_says_bytes(&rig.world, sock, bytes + i, 1);
		rig_turn();
	}
}

void rig_say_string(int sock, const char *text)
{
	char bulk[600];

	snprintf(bulk, sizeof(bulk), "$%zu\r\n%s\r\n", strlen(text), text);
	rig_say(sock, bulk);
}

const char *rig_heard(int sock)
{
	return script_heard(&rig.world, sock);
}

void rig_publish(const char *text)
{
	char message[200];

	snprintf(message, sizeof(message),
		 "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$%zu\r\n%s\r\n",
		 strlen(text), text);
	rig_say(RIG_EAR, message);
}

/* ---- Begin and end ------------------------------------------------------- */

void rig_begin(const char *text)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wake = on_wake,
		.look_again = on_look,
		.wanted = on_wanted,
		.warn = on_warn,
	};
	struct dlki_address address;
	struct dlki_engine_options options = {
		.world = &rig.world.base,
		.protocol = &dlki_redis_protocol,
		.label = "me",
		.addresses = &address,
		.n_addresses = 1,
		.news = &news,
		.connect_ms = 2000,
		.patience_ms = 1000,
	};
	struct dlk_error err;

	memset(&rig, 0, sizeof(rig));
	script_init(&rig.world);
	cr_assert_eq(dlki_uri_parse(&rig.uri, text, dlki_redis_backend.params,
				    NULL, &err),
		     0);
	options.uri = rig.uri;
	cr_assert_eq(dlki_address_tcp(&address, "127.0.0.1", 6379), 0);
	rig.engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(rig.engine);
	cr_assert_eq(dlki_lock(rig.engine), 0);
	dlki_push(rig.engine);
	script_connected(&rig.world, RIG_MAIN);
	rig_turn();
}

void rig_begin_up(const char *query)
{
	char uri[200];

	snprintf(uri, sizeof(uri), "redis://h?ttl=10s%s", query);
	rig_begin(uri);
	cr_assert_str_eq(rig_heard(RIG_MAIN), "*1\r\n$4\r\nINFO\r\n");
	rig_say_string(RIG_MAIN, "redis_version:7.0.15\r\nrun_id:one\r\n");
	cr_assert(dlki_engine_is_up(rig.engine));
}

void rig_end(void)
{
	dlki_unlock(rig.engine);
	dlki_engine_free(rig.engine);
	dlki_uri_free(rig.uri);
	script_free(&rig.world);
}

int rig_try(int i, enum dlki_verb verb)
{
	struct dlki_op *op = &rig.ops[i];

	op->verb = verb;
	if (!op->request && verb != DLKI_LIST)
		op->request = &rig_request;
	op->id = 100 + (uint64_t)i;
	op->deadline = op->deadline ? op->deadline : DLK_FOREVER;
	op->done = on_done;
	return dlki_submit(rig.engine, op) == 0;
}

void rig_queue(int i, enum dlki_verb verb)
{
	cr_assert(rig_try(i, verb));
}

void rig_submit(int i, enum dlki_verb verb)
{
	rig_queue(i, verb);
	dlki_push(rig.engine);
}

void rig_ear_connects(int sock)
{
	cr_assert_eq(rig.world.opened, sock + 1);
	script_connected(&rig.world, sock);
	rig_turn();
	cr_assert_str_eq(rig_heard(sock),
			 "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"
			 "*2\r\n$9\r\nSUBSCRIBE\r\n$46\r\n"
			 "dlock:inbox:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a:c\r\n");
	rig_say_string(sock, "run_id:one\r\n");
	rig_say(sock, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
}

void rig_raise_ear(void)
{
	rig_submit(0, DLKI_ATTEMPT);
	rig_say_string(RIG_MAIN, "B 0 1700000000000000");
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
	rig_turn();
	rig_ear_connects(RIG_EAR);
	cr_assert_eq(rig.looks, 1);
	rig_heard(RIG_MAIN);
}
