/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/side.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/net/address.h"
#include "core/uri/uri.h"
#include "core/world/real.h"
#include "support/wait.h"

struct lab_server *server;
struct side side_a, side_b;

/* ---- News ---------------------------------------------------------------- */

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock,
		      int64_t lease_ms, dlk_time now)
{
	struct side *s = arg;

	(void)now;
	s->pushed_lease_ms = lease_ms;
	s->pushed_id = id;
	s->pushed_token = token;
	s->pushed_clock = clock;
	if (s->parked)
		dlki_waiter_done(s->engine, s->parked);
}

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	struct side *s = arg;

	(void)id;
	(void)now;
	s->woken++;
	if (s->parked)
		dlki_waiter_done(s->engine, s->parked);
}

static void on_look(void *arg, dlk_time now)
{
	struct side *s = arg;

	(void)now;
	s->looks++;
	if (s->parked)
		dlki_waiter_done(s->engine, s->parked);
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	struct side *s = arg;

	(void)now;
	s->wanted++;
	snprintf(s->owner, sizeof(s->owner), "%s", owner);
	if (s->parked)
		dlki_waiter_done(s->engine, s->parked);
}

static void on_warn(void *arg, const char *text)
{
	struct side *s = arg;

	(void)text;
	s->warned++;
}

/* ---- Engines ------------------------------------------------------------- */

void side_open(struct side *s, const struct side_store *store,
	       const char *query)
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
		.protocol = store->protocol,
		.label = "a test",
		.addresses = &address,
		.n_addresses = 1,
		.news = &news,
		.arg = s,
		.connect_ms = patience_ms(),
		.patience_ms = patience_ms(),
	};
	struct dlk_error err = { 0 };
	char text[240];

	memset(s, 0, sizeof(*s));
	snprintf(text, sizeof(text), "%s127.0.0.1:%d?ttl=%" PRIi64 "ms%s",
		 store->before, server->port, TTL_MS * slowness(), query);
	cr_assert_eq(dlki_uri_parse(&s->uri, text, store->params, NULL, &err),
		     0, "%s", err.text);
	cr_assert_eq(dlki_address_tcp(&address, "127.0.0.1",
				      (uint16_t)server->port),
		     0);
	s->world = dlki_real_new(&err);
	options.world = s->world;
	options.uri = s->uri;
	s->engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(s->engine, "%s", err.text);
	cr_assert_eq(dlki_drive_begin(s->engine, DLKI_ALL_SETS, &err), 0);
}

void side_close(struct side *s)
{
	if (!s->engine)
		return;
	dlki_drive_end(s->engine);
	dlki_engine_free(s->engine);
	dlki_real_free(s->world);
	dlki_uri_free(s->uri);
	s->engine = NULL;
}

void side_teardown(void)
{
	side_close(&side_a);
	side_close(&side_b);
	lab_server_free(server);
}

/* ---- Claims -------------------------------------------------------------- */

void claim_prepare(struct claim *c, struct side *s, int owner,
		   enum dlk_kind kind, enum dlk_mode mode, uint32_t limit)
{
	*c = (struct claim){ .side = s };
	snprintf(c->owner, sizeof(c->owner), "%032x", (unsigned int)owner);
	dlki_name_key(kind, "n", c->key);
	cr_assert_leq(s->engine->protocol->claim_size, sizeof(c->memory));
	c->op.claim = c->memory;
	c->request = (struct dlk_request){
		.name = "n",
		.key = c->key,
		.owner = c->owner,
		.label = "a test",
		.kind = kind,
		.mode = mode,
		.limit = limit,
	};
}

static void on_done(struct dlki_op *op, dlk_time now)
{
	struct claim *c = (struct claim *)op;

	(void)now;
	if (op->error)
		memcpy(c->error, op->error->text, sizeof(c->error));
	dlki_waiter_done(c->side->engine, &c->waiter);
}

void claim_begin(struct claim *c, enum dlki_verb verb)
{
	static uint64_t ids;

	c->op.verb = verb;
	c->op.request = &c->request;
	c->op.id = ++ids;
	c->op.token = c->token;
	c->op.deadline = dlk_now() + 2 * patience_ms() * DLK_MS;
	c->op.done = on_done;
	dlki_waiter_init(&c->waiter, DLKI_ANSWERS);
	cr_assert_eq(dlki_lock(c->side->engine), 0);
	cr_assert_eq(dlki_submit(c->side->engine, &c->op), 0);
	dlki_push(c->side->engine);
	dlki_unlock(c->side->engine);
}

enum dlki_outcome claim_end(struct claim *c)
{
	cr_assert_eq(dlki_lock(c->side->engine), 0);
	cr_assert(dlki_drive(c->side->engine, &c->waiter, DLK_FOREVER));
	dlki_unlock(c->side->engine);
	if (c->op.outcome == DLKI_GRANTED)
		c->token = c->op.token;
	return c->op.outcome;
}

enum dlki_outcome claim_call(struct claim *c, enum dlki_verb verb)
{
	enum dlki_outcome outcome;

	do {
		claim_begin(c, verb);
		outcome = claim_end(c);
	} while (outcome == DLKI_AGAIN);
	return outcome;
}

void side_await(struct side *s, const int *count, int wanted)
{
	dlk_time end = dlk_now() + patience_ms() * DLK_MS;
	struct dlki_waiter w;

	dlki_waiter_init(&w, DLKI_NEWS);
	cr_assert_eq(dlki_lock(s->engine), 0);
	s->parked = &w;
	while (*count < wanted) {
		w.done = 0;
		cr_assert(dlki_drive(s->engine, &w, end), "no news came");
	}
	s->parked = NULL;
	dlki_unlock(s->engine);
}
