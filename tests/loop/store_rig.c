/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/store_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/uri/uri.h"
#include "support/address.h"

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
	rig.pushed++;
	rig.news_lease_ms = lease_ms;
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

static void on_late(void *arg, dlk_time since, dlk_time now)
{
	(void)arg;
	cr_assert_eq(now, rig.world.clock);
	rig.late++;
	rig.late_since = since;
}

static void on_warn(void *arg, const char *text)
{
	(void)arg;
	rig.warned++;
	snprintf(rig.warning, sizeof(rig.warning), "%s", text);
}

static void on_moved(void *arg, const char *text, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.moved++;
	snprintf(rig.warning, sizeof(rig.warning), "%s", text);
}

/* ---- The server ---------------------------------------------------------- */

void rig_turn(void)
{
	dlki_turn(rig.engine, DLKI_ALL_SETS, rig.world.clock);
}

void rig_turn_until(dlk_time until)
{
	dlki_turn(rig.engine, DLKI_ALL_SETS, until);
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

const char *rig_heard(int sock)
{
	return script_heard(&rig.world, sock);
}

/* ---- Begin and end ------------------------------------------------------- */

void rig_open(const struct rig_store *store, const char *text)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wake = on_wake,
		.look_again = on_look,
		.wanted = on_wanted,
		.warn = on_warn,
		.late = on_late,
		.moved = on_moved,
	};
	struct dlki_address address;
	struct dlki_engine_options options = {
		.world = &rig.world.base,
		.protocol = store->protocol,
		.label = "me",
		.addresses = &address,
		.n_addresses = 1,
		.news = &news,
		.connect_ms = 2000,
		.patience_ms = store->patience_ms,
	};
	struct dlk_error err;

	memset(&rig, 0, sizeof(rig));
	script_init(&rig.world);
	cr_assert_eq(dlki_uri_parse(&rig.uri, text, store->params, NULL, &err),
		     0);
	options.uri = rig.uri;
	cr_assert_eq(address_tcp(&address, "127.0.0.1", store->port), 0);
	rig.engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(rig.engine);
	cr_assert_eq(dlki_lock(rig.engine), 0);
	dlki_push(rig.engine);
	script_connected(&rig.world, RIG_MAIN);
	rig_turn();
}

void rig_end(void)
{
	dlki_unlock(rig.engine);
	dlki_engine_free(rig.engine);
	dlki_uri_free(rig.uri);
	script_free(&rig.world);
	for (int i = 0; i < RIG_OPS; i++)
		free(rig.claims[i]);
}

int rig_try(int i, enum dlki_verb verb)
{
	size_t size = rig.engine->protocol->claim_size;
	struct dlki_op *op = &rig.ops[i];

	op->verb = verb;
	if (!op->request && verb != DLKI_LIST)
		op->request = &rig_request;
	op->id = 100 + (uint64_t)i;
	op->deadline = op->deadline ? op->deadline : DLK_FOREVER;
	op->done = on_done;
	if (!op->claim && size > 0 && verb <= DLKI_WATCH) {
		rig.claims[i] = calloc(1, size);
		op->claim = rig.claims[i];
	}
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
