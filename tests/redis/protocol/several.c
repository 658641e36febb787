/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis protocol of the engine, and a name that leads to several servers,
 * or elsewhere than before. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "core/base/clock.h"
#include "core/loop/drive.h"
#include "core/name.h"
#include "core/uri/uri.h"
#include "core/world/real.h"
#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "support/names.h"
#include "support/wait.h"

extern const struct dlock_backend dlki_redis_backend;

static struct lab_server *a, *b;
static struct dlki_world *world;
static struct dlki_engine *engine;
static struct dlk_uri *uri;
static int moves, warnings;
static char told[8][400];

static void on_moved(void *arg, const char *text, dlk_time now)
{
	(void)arg;
	(void)now;
	moves++;
	cr_assert_str_eq(text, "many.test:1 is another server, or was "
			       "restarted: every hold is checked");
}

static void on_warn(void *arg, const char *text)
{
	(void)arg;
	if (warnings < 8)
		snprintf(told[warnings++], sizeof(told[0]), "%s", text);
}

/* many.test leads to these ports; 0: none. */
static void open_at(int port, int other_port)
{
	static const struct dlki_news news = {
		.moved = on_moved,
		.warn = on_warn,
	};
	struct dlki_engine_options options = {
		.protocol = &dlki_redis_protocol,
		.label = "a test",
		.host = "many.test",
		.port = 1,
		.news = &news,
		.connect_ms = patience_ms(),
		.patience_ms = patience_ms(),
	};
	struct dlk_error err = { 0 };

	names_lead_to(port, other_port);
	cr_assert_eq(dlki_uri_parse(&uri, "redis://many.test:1?ttl=60s",
				    dlki_redis_backend.params, NULL, &err),
		     0);
	world = dlki_real_new(&err);
	options.world = world;
	options.uri = uri;
	engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(engine, "%s", err.text);
	cr_assert_eq(dlki_drive_begin(engine, DLKI_ALL_SETS, &err), 0);
}

static void setup(void)
{
	a = lab_redis_start(NULL);
	b = lab_redis_start(NULL);
	cr_assert(a && b);
}

static void teardown(void)
{
	dlki_drive_end(engine);
	dlki_engine_free(engine);
	dlki_real_free(world);
	dlki_uri_free(uri);
	lab_server_free(a);
	lab_server_free(b);
}

TestSuite(redis_engine_several, .init = setup, .fini = teardown);

/* ---- Claims -------------------------------------------------------------- */

struct claim {
	struct dlki_op op;
	struct dlki_waiter waiter;
	char error[240];
};

static void on_done(struct dlki_op *op, dlk_time now)
{
	struct claim *c = (struct claim *)op;

	(void)now;
	if (op->error)
		memcpy(c->error, op->error->text, sizeof(c->error));
	dlki_waiter_done(engine, &c->waiter);
}

/* The one claim of these tests. */
static enum dlki_outcome call(struct claim *c, enum dlki_verb verb)
{
	static char key[DLKI_KEY_SIZE];
	static const struct dlk_request request = {
		.name = "n",
		.key = key,
		.owner = "00000000000000000000000000000001",
		.label = "a test",
		.kind = DLK_LOCK,
		.mode = DLK_EXCLUSIVE,
	};
	static uint64_t ids;

	dlki_name_key(DLK_LOCK, "n", key);
	c->op.verb = verb;
	c->op.request = &request;
	c->op.id = ++ids;
	c->op.deadline = dlk_now() + 2 * patience_ms() * DLK_MS;
	c->op.done = on_done;
	dlki_waiter_init(&c->waiter, DLKI_ANSWERS);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c->op), 0);
	cr_assert(dlki_drive(engine, &c->waiter, DLK_FOREVER));
	dlki_unlock(engine);
	return c->op.outcome;
}

/* A claim asks again: after NOSCRIPT, and when no answer came. */
static enum dlki_outcome ask(struct claim *c, enum dlki_verb verb)
{
	enum dlki_outcome outcome = call(c, verb);

	while (outcome == DLKI_AGAIN || outcome == DLKI_UNANSWERED)
		outcome = call(c, verb);
	return outcome;
}

static int exists(struct lab_server *s)
{
	char reply[16];

	cr_assert_eq(
		lab_redis_do(s, reply, sizeof(reply), "EXISTS dlock:{lnn}"), 0);
	return reply[0] == '1';
}

/* ---- Several addresses --------------------------------------------------- */

Test(redis_engine_several, servers_of_one_name_are_refused)
{
	struct claim c = { 0 };
	char both[200];

	open_at(a->port, b->port);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_FAILED);
	snprintf(both, sizeof(both),
		 "many.test:1: 127.0.0.1:%d and 127.0.0.1:%d are two servers, "
		 "and locks on one are not locks on the other; give one "
		 "address",
		 a->port, b->port);
	cr_assert_str_eq(c.error, both);
	cr_assert(!exists(a) && !exists(b));
}

Test(redis_engine_several, addresses_of_one_server_are_fine)
{
	struct claim c = { 0 };
	int found = 0;

	open_at(a->port, a->port);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	cr_assert_eq(ask(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(moves, 0);
	for (int i = 0; i < warnings; i++)
		found += strstr(told[i], "keeps no log of writes") != NULL;
	cr_assert_eq(found, 1, "once, of %d warnings", warnings);
}

/* ---- Fail-over ----------------------------------------------------------- */

Test(redis_engine_several, one_is_kept_while_it_answers)
{
	struct claim c = { 0 };

	open_at(a->port, 0);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	names_lead_to(b->port, 0);
	cr_assert_eq(lab_redis_do(a, NULL, 0, "CLIENT KILL TYPE normal"), 0);
	cr_assert_eq(ask(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(moves, 0);
}

Test(redis_engine_several, one_that_has_gone_is_a_fail_over)
{
	struct claim c = { 0 };

	open_at(a->port, 0);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	names_lead_to(b->port, 0);
	cr_assert_eq(lab_server_kill(a), 0);
	cr_assert_eq(ask(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
	cr_assert_eq(moves, 1);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert(exists(b));
}

Test(redis_engine_several, one_that_was_started_anew_is_a_fail_over)
{
	struct claim c = { 0 };

	open_at(a->port, 0);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	cr_assert_eq(lab_server_kill(a), 0);
	cr_assert_eq(lab_server_restart(a, false), 0, "%s", lab_errmsg());
	cr_assert_eq(ask(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
	cr_assert_eq(moves, 1);
}

/* The server answers and keeps its run, but takes no locks. */
Test(redis_engine_several, one_that_became_a_replica_is_left)
{
	struct claim c = { 0 };

	open_at(a->port, 0);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	cr_assert_eq(ask(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(lab_redis_follow(a, b, b->port), 0, "%s", lab_errmsg());
	names_lead_to(b->port, 0);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_FAILED);
	cr_assert_not_null(strstr(c.error, " is a replica"), "%s", c.error);
	cr_assert_eq(ask(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	cr_assert_eq(moves, 1);
	cr_assert(exists(b));
}
