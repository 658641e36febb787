/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis protocol of the engine, with a real server. */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "core/base/clock.h"
#include "core/loop/drive.h"
#include "core/loop/state.h"
#include "core/name.h"
#include "core/net/address.h"
#include "core/uri/uri.h"
#include "core/world/real.h"
#include "lab/servers/redis.h"
#include "support/wait.h"

extern const struct dlock_backend dlki_redis_backend;

/* Long: no test waits for a lease, and no poll may stand in for a grant
 * message. */
enum { TTL_MS = 60000 };

static struct lab_server *server;

/* ---- Engines ------------------------------------------------------------- */

struct side {
	struct dlki_engine *engine;
	struct dlki_world *world;
	struct dlk_uri *uri;

	/* News. */
	struct dlki_waiter *parked;
	uint64_t pushed_id, pushed_token, pushed_clock;
	int looks, woken;
};

static struct side a, b;

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock,
		      int64_t lease_ms, dlk_time now)
{
	struct side *s = arg;

	(void)now;
	cr_assert_eq(lease_ms, TTL_MS * slowness() / 2);
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

static void open_side(struct side *s, const char *more)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wake = on_wake,
		.look_again = on_look,
	};
	struct dlki_address address;
	struct dlki_engine_options options = {
		.protocol = &dlki_redis_protocol,
		.label = "a test",
		.addresses = &address,
		.n_addresses = 1,
		.news = &news,
		.arg = s,
		.connect_ms = patience_ms(),
		.patience_ms = patience_ms(),
	};
	struct dlk_error err = { 0 };
	char text[200];

	memset(s, 0, sizeof(*s));
	snprintf(text, sizeof(text), "redis://%s127.0.0.1:%d?ttl=%" PRIi64 "ms",
		 more, server->port, TTL_MS * slowness());
	cr_assert_eq(dlki_uri_parse(&s->uri, text, dlki_redis_backend.params,
				    NULL, &err),
		     0, "%s", err.text);
	cr_assert_eq(dlki_address_tcp(&address, "127.0.0.1",
				      (uint16_t)server->port),
		     0);
	s->world = dlki_real_new(&err);
	options.world = s->world;
	options.uri = s->uri;
	s->engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(s->engine, "%s", err.text);
	cr_assert_eq(dlki_drive_begin(s->engine, &err), 0);
}

static void close_side(struct side *s)
{
	if (!s->engine)
		return;
	dlki_drive_end(s->engine);
	dlki_engine_free(s->engine);
	dlki_real_free(s->world);
	dlki_uri_free(s->uri);
	s->engine = NULL;
}

static void setup(void)
{
	server = lab_redis_start(NULL);
	cr_assert_not_null(server);
	open_side(&a, "");
	open_side(&b, "");
}

static void teardown(void)
{
	close_side(&a);
	close_side(&b);
	lab_server_free(server);
}

/* ---- Claims -------------------------------------------------------------- */

struct claim {
	struct dlki_op op;
	struct dlki_waiter waiter;
	struct side *side;
	struct dlk_request request;
	char owner[33];
	char key[DLKI_KEY_SIZE];
	char error[240];
	uint64_t token;
};

static void prepare(struct claim *c, struct side *s, int owner,
		    enum dlk_kind kind, enum dlk_mode mode, uint32_t limit)
{
	*c = (struct claim){ .side = s };
	snprintf(c->owner, sizeof(c->owner), "%032x", (unsigned int)owner);
	dlki_name_key(kind, "n", c->key);
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

/* A verb, to the end. */
static enum dlki_outcome call(struct claim *c, enum dlki_verb verb)
{
	static uint64_t ids;
	dlk_time deadline = dlk_now() + 2 * patience_ms() * DLK_MS;

	c->op.verb = verb;
	c->op.request = &c->request;
	c->op.id = ++ids;
	c->op.token = c->token;
	c->op.deadline = deadline;
	c->op.done = on_done;
	dlki_waiter_init(&c->waiter, DLKI_ANSWERS);
	cr_assert_eq(dlki_lock(c->side->engine), 0);
	cr_assert_eq(dlki_submit(c->side->engine, &c->op), 0);
	cr_assert(dlki_drive(c->side->engine, &c->waiter, DLK_FOREVER));
	dlki_unlock(c->side->engine);
	dlki_waiter_destroy(&c->waiter);
	if (c->op.outcome == DLKI_AGAIN)
		return call(c, verb);
	if (c->op.outcome == DLKI_GRANTED)
		c->token = c->op.token;
	return c->op.outcome;
}

/* Park until *what has counted so many news. */
static void await_news(struct side *s, const int *what, int count)
{
	dlk_time end = dlk_now() + patience_ms() * DLK_MS;
	struct dlki_waiter w;

	dlki_waiter_init(&w, DLKI_NEWS);
	cr_assert_eq(dlki_lock(s->engine), 0);
	s->parked = &w;
	while (*what < count) {
		w.done = 0;
		cr_assert(dlki_drive(s->engine, &w, end), "no news came");
	}
	s->parked = NULL;
	dlki_unlock(s->engine);
	dlki_waiter_destroy(&w);
}

static void await_push(struct claim *c)
{
	struct side *s = c->side;
	dlk_time end = dlk_now() + patience_ms() * DLK_MS;
	struct dlki_waiter w;

	dlki_waiter_init(&w, DLKI_NEWS);
	cr_assert_eq(dlki_lock(s->engine), 0);
	s->parked = &w;
	while (s->pushed_id != c->op.id) {
		w.done = 0;
		cr_assert(dlki_drive(s->engine, &w, end), "no grant came");
	}
	s->parked = NULL;
	dlki_unlock(s->engine);
	dlki_waiter_destroy(&w);
	c->token = s->pushed_token;
}

/* BUSY, and the ear is up from now on. */
static void ask_in_vain(struct claim *c)
{
	int looks = c->side->looks;

	cr_assert_eq(call(c, DLKI_ATTEMPT), DLKI_BUSY);
	if (looks == 0) {
		await_news(c->side, &c->side->looks, 1);
		cr_assert_eq(call(c, DLKI_ATTEMPT), DLKI_BUSY);
	}
}

/* ---- Exclusive ----------------------------------------------------------- */

Test(redis_engine, a_lock_is_granted_renewed_and_released, .init = setup,
     .fini = teardown)
{
	dlk_time before = dlk_now();
	struct claim c, d;

	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	prepare(&d, &b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	cr_assert_gt(c.token, 0);
	cr_assert_geq(c.op.since, before);
	cr_assert_eq(c.op.lease_ms, TTL_MS * slowness());
	cr_assert_eq(call(&d, DLKI_ATTEMPT), DLKI_BUSY);
	cr_assert_gt(d.op.look_in_ms, 0);
	cr_assert_gt(d.op.store_clock_us, 1600000000000000);
	cr_assert_eq(call(&d, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0, "never created again");
	cr_assert_eq(call(&d, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_gt(d.token, c.token);
	cr_assert_eq(call(&d, DLKI_RELEASE), DLKI_ANSWERED);
}

Test(redis_engine, a_release_pushes_the_grant_with_the_clock, .init = setup,
     .fini = teardown)
{
	dlk_time asked, released, since;
	struct claim c, d;

	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	prepare(&d, &b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	ask_in_vain(&d);
	asked = d.op.since;
	nap_ms(20);
	released = dlk_now();
	cr_assert_eq(call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	await_push(&d);
	cr_assert_gt(d.token, c.token);
	cr_assert_geq(b.pushed_clock, d.op.store_clock_us);
	/* Not from before the release by more than the way of the attempt, and
	 * in no case from after the grant. */
	since = asked + (dlk_time)(b.pushed_clock - d.op.store_clock_us) * 1000;
	cr_assert_geq(since, asked + 10 * DLK_MS);
	cr_assert_leq(since, dlk_now());
	cr_assert_geq(since + slack_ms() * DLK_MS, released);
	cr_assert_eq(call(&d, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(d.op.stood, 1);
	cr_assert_eq(call(&d, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(d.op.stood, 1);
}

Test(redis_engine, what_is_ours_is_granted_again, .init = setup,
     .fini = teardown)
{
	struct claim c;
	uint64_t token;

	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	token = c.token;
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(c.token, token);
}

/* ---- Shared and counted -------------------------------------------------- */

Test(redis_engine, readers_share_and_a_writer_has_its_turn, .init = setup,
     .fini = teardown)
{
	struct claim r1, r2, w, late;

	prepare(&r1, &a, 1, DLK_LOCK, DLK_SHARED, 0);
	prepare(&r2, &b, 2, DLK_LOCK, DLK_SHARED, 0);
	prepare(&w, &b, 3, DLK_LOCK, DLK_EXCLUSIVE, 0);
	prepare(&late, &a, 4, DLK_LOCK, DLK_SHARED, 0);
	cr_assert_eq(call(&r1, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(call(&r2, DLKI_ATTEMPT), DLKI_GRANTED);
	ask_in_vain(&w);
	ask_in_vain(&late);
	cr_assert_eq(call(&r1, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(r1.op.stood, 1);
	cr_assert_eq(call(&r1, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(call(&r2, DLKI_RELEASE), DLKI_ANSWERED);
	await_push(&w);
	cr_assert_eq(call(&w, DLKI_RELEASE), DLKI_ANSWERED);
	await_push(&late);
	cr_assert_gt(late.token, w.token);
	cr_assert_gt(a.pushed_clock, 0);
	cr_assert_eq(call(&late, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(late.op.stood, 1);
}

Test(redis_engine, a_semaphore_counts, .init = setup, .fini = teardown)
{
	struct claim c, d, e, other;

	prepare(&c, &a, 1, DLK_SEMAPHORE, DLK_SHARED, 2);
	prepare(&d, &a, 2, DLK_SEMAPHORE, DLK_SHARED, 2);
	prepare(&e, &b, 3, DLK_SEMAPHORE, DLK_SHARED, 2);
	prepare(&other, &b, 4, DLK_SEMAPHORE, DLK_SHARED, 3);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(call(&d, DLKI_ATTEMPT), DLKI_GRANTED);
	ask_in_vain(&e);
	cr_assert_eq(call(&other, DLKI_ATTEMPT), DLKI_FAILED);
	cr_assert_str_eq(other.error, "semaphore 'n' has 2 permits, not 3");
	cr_assert_eq(call(&d, DLKI_RELEASE), DLKI_ANSWERED);
	await_push(&e);
	cr_assert_eq(call(&e, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(e.op.stood, 1);
}

/* ---- The server ---------------------------------------------------------- */

Test(redis_engine, a_server_that_forgot_the_scripts_is_told_again,
     .init = setup, .fini = teardown)
{
	struct claim c;

	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
		cr_assert_eq(lab_redis_do(server, NULL, 0, "SCRIPT FLUSH"), 0);
		cr_assert_eq(call(&c, DLKI_RENEW), DLKI_ANSWERED);
		cr_assert_eq(c.op.stood, 1);
		cr_assert_eq(lab_redis_do(server, NULL, 0, "SCRIPT FLUSH"), 0);
		cr_assert_eq(call(&c, DLKI_RELEASE), DLKI_ANSWERED);
		cr_assert_eq(c.op.stood, 1);
	}
}

/* A request that is written before the loss of its connection is read ends
 * UNANSWERED, and is asked again over the next connection. */
static enum dlki_outcome call_over_a_loss(struct claim *c, enum dlki_verb verb)
{
	enum dlki_outcome outcome = call(c, verb);

	if (outcome != DLKI_UNANSWERED)
		return outcome;
	c->op.again = 1;
	return call(c, verb);
}

Test(redis_engine, killed_connections_are_made_again, .init = setup,
     .fini = teardown)
{
	struct claim c, d;
	int looks;

	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	prepare(&d, &b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	ask_in_vain(&d);
	looks = b.looks;
	cr_assert_eq(lab_redis_do(server, NULL, 0, "CLIENT KILL TYPE pubsub"),
		     0);
	await_news(&b, &b.looks, looks + 1);
	cr_assert_eq(lab_redis_do(server, NULL, 0, "CLIENT KILL TYPE normal"),
		     0);
	cr_assert_eq(call_over_a_loss(&d, DLKI_ATTEMPT), DLKI_BUSY);
	cr_assert_eq(call_over_a_loss(&c, DLKI_RELEASE), DLKI_ANSWERED);
	await_push(&d);
}

Test(redis_engine, a_break_is_seen_by_the_next_renewal, .init = setup,
     .fini = teardown)
{
	struct claim c;

	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(lab_redis_do(server, NULL, 0, "FLUSHALL"), 0);
	cr_assert_eq(call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
	cr_assert_eq(call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
}

Test(redis_engine, a_wrong_password_fails_every_op, .fini = teardown)
{
	struct lab_redis_options options = { .password = "right" };
	struct claim c;

	server = lab_redis_start(&options);
	cr_assert_not_null(server);
	open_side(&a, ":wrong@");
	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_FAILED);
	cr_assert_not_null(strstr(c.error, "refused our"), "%s", c.error);
	cr_assert_null(strstr(c.error, "wrong"));
	close_side(&a);
	open_side(&b, ":right@");
	prepare(&c, &b, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(call(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
}

/* ---- Beside the backend -------------------------------------------------- */

static void *acquire(void *arg)
{
	dlk_time begun = dlk_now();
	dlock_hold *hold;

	cr_assert_eq(dlock_acquire(arg, 2 * patience_ms(), &hold), 0, "%s",
		     dlock_errmsg());
	cr_assert_lt(dlk_now() - begun, patience_ms() * DLK_MS,
		     "the last try found the grant");
	return hold;
}

/* The waiter has asked twice: the client listens, and only a grant message, or
 * a poll after a third of the lease, can tell the waiter. */
static int waits_for_a_message(void)
{
	char reply[400];

	return lab_redis_do(server, reply, sizeof(reply),
			    "HVALS dlock:{lnn}:i") == 0 &&
	       strstr(reply, " f x 0 2 dlock:inbox:");
}

/* A client with the backend holds and waits on the same server: either passes
 * the lock to the other. */
Test(redis_engine, the_protocol_understands_the_backend, .init = setup,
     .fini = teardown)
{
	dlock_client *client;
	pthread_t thread;
	dlock_lock *lock;
	struct claim c;
	char uri[100];
	void *hold;

	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d?ttl=%" PRIi64 "ms",
		 server->port, TTL_MS * slowness());
	cr_assert_eq(dlock_open(&client, uri, NULL), 0, "%s", dlock_errmsg());
	cr_assert_eq(dlock_mutex_new(&lock, client, "n"), 0);
	cr_assert_eq(dlock_lock_unbind(lock), 0);
	hold = acquire(lock);
	prepare(&c, &a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	ask_in_vain(&c);
	cr_assert_eq(dlock_release(hold), 0);
	await_push(&c);
	cr_assert_eq(a.pushed_clock, 0, "the backend tells no clock");
	pthread_create(&thread, NULL, acquire, lock);
	EVENTUALLY(waits_for_a_message());
	cr_assert_eq(call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	pthread_join(thread, &hold);
	cr_assert_eq(dlock_release(hold), 0);
	dlock_lock_free(lock);
	dlock_close(client);
}
