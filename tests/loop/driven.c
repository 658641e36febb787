/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/driven.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "core/base/clock.h"
#include "core/world/real.h"
#include "support/address.h"
#include "support/wait.h"
#include "tests/loop/lines.h"
#include "tests/loop/stress/server.h"

struct dlki_engine *engine;
static struct dlki_world *world;

/* The kernel's table, with calls counted, and with wait() and await() for
 * answers, and write(), held up. */
static struct dlki_world_type table;
static int (*real_wait)(struct dlki_world *w, unsigned int sets,
			struct dlki_event *out, int room, dlk_time until);
static ssize_t (*real_await)(struct dlki_world *w, int sock, void *out,
			     size_t size);
static ssize_t (*real_write)(struct dlki_world *w, int sock, const void *bytes,
			     size_t len);
static void (*real_kick)(struct dlki_world *w, enum dlki_set set);
atomic_int waits[DLKI_SETS], kicks[DLKI_SETS];
static dlk_time (*real_now)(struct dlki_world *w);
atomic_int awaits, await_held_up, started_waits, held_up, is_held_up, turns;
atomic_int write_held_up, is_in_write;
static _Thread_local int is_started_thread;

static int counted_wait(struct dlki_world *w, unsigned int sets,
			struct dlki_event *out, int room, dlk_time until)
{
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set))
			waits[set]++;
	}
	if (is_started_thread)
		started_waits++;
	if (sets & DLKI_BIT(DLKI_ANSWERS)) {
		while (held_up) {
			is_held_up = 1;
			nap_ms(1);
		}
	}
	return real_wait(w, sets, out, room, until);
}

static ssize_t counted_await(struct dlki_world *w, int sock, void *out,
			     size_t size)
{
	awaits++;
	while (await_held_up)
		nap_ms(1);
	return real_await(w, sock, out, size);
}

static ssize_t held_write(struct dlki_world *w, int sock, const void *bytes,
			  size_t len)
{
	ssize_t n;

	if (write_held_up && !is_started_thread)
		return -EAGAIN;
	n = real_write(w, sock, bytes, len);
	while (write_held_up) {
		is_in_write = 1;
		nap_ms(1);
	}
	return n;
}

static void counted_kick(struct dlki_world *w, enum dlki_set set)
{
	kicks[set]++;
	real_kick(w, set);
}

static dlk_time counted_now(struct dlki_world *w)
{
	turns++;
	return real_now(w);
}

static void on_done(struct dlki_op *op, dlk_time now)
{
	struct call *c = (struct call *)op;

	(void)now;
	c->ended++;
	if (c->waits)
		dlki_waiter_done(engine, &c->waiter);
}

void setup(void)
{
	static struct dlki_address address;
	struct dlki_engine_options options = {
		.protocol = &lines_protocol,
		.label = "ear",
		.place.addresses = &address,
		.place.n_addresses = 1,
		.connect_ms = patience_ms(),
		.patience_ms = 10 * patience_ms(),
	};
	static const struct dlki_news news;
	struct dlk_error err;

	world = dlki_real_new(&err);
	table = *world->type;
	real_wait = table.wait;
	table.wait = counted_wait;
	real_await = table.await;
	table.await = counted_await;
	real_write = table.write;
	table.write = held_write;
	real_kick = table.kick;
	table.kick = counted_kick;
	real_now = table.now;
	table.now = counted_now;
	world->type = &table;
	options.world = world;
	options.news = &news;
	cr_assert_eq(address_tcp(&address, "127.0.0.1", server_start(0)), 0);
	engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(engine);
	cr_assert_eq(dlki_drive_begin(engine, NULL, &err), 0);
}

void teardown(void)
{
	dlki_drive_end(engine);
	dlki_engine_free(engine);
	dlki_real_free(world);
	server_stop();
}

void prepare(struct call *c, enum dlki_verb verb, uint64_t n, dlk_time deadline,
	     int waits_for_it)
{
	*c = (struct call){ .waits = waits_for_it };
	c->op.verb = verb;
	c->op.id = c->op.token = n;
	c->op.deadline = deadline;
	c->op.done = on_done;
	dlki_waiter_init(&c->waiter);
}

dlk_time soon(void)
{
	return dlk_now() + patience_ms() * DLK_MS;
}

void submit(struct call *c)
{
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c->op), 0);
	dlki_push(engine);
	dlki_unlock(engine);
}

int has_ended(const struct call *c)
{
	int ended;

	cr_assert_eq(dlki_lock(engine), 0);
	ended = c->ended;
	dlki_unlock(engine);
	return ended;
}

enum dlki_outcome call_out(struct call *c)
{
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c->op), 0);
	cr_assert(dlki_drive(engine, &c->waiter, DLK_FOREVER));
	dlki_unlock(engine);
	cr_assert_eq(c->ended, 1);
	return c->op.outcome;
}

enum dlki_outcome call(enum dlki_verb verb, uint64_t n)
{
	struct call c;

	prepare(&c, verb, n, soon(), 1);
	return call_out(&c);
}

int turns_in_a_while(void)
{
	int before = turns;

	nap_ms(100);
	return turns - before;
}

static void *wait_in_thread(void *arg)
{
	struct thread *t = arg;

	is_started_thread = 1;
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert(dlki_drive(engine, &t->waiter, DLK_FOREVER));
	dlki_unlock(engine);
	t->is_over = 1;
	return NULL;
}

int is_asleep(const struct thread *t)
{
	int yes;

	cr_assert_eq(dlki_lock(engine), 0);
	yes = t->waiter.asleep;
	dlki_unlock(engine);
	return yes;
}

void end_wait(struct thread *t)
{
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_waiter_done(engine, &t->waiter);
	dlki_unlock(engine);
	EVENTUALLY(t->is_over);
	pthread_join(t->id, NULL);
}

void start(struct thread *t)
{
	t->is_over = 0;
	dlki_waiter_init(&t->waiter);
	pthread_create(&t->id, NULL, wait_in_thread, t);
}

void start_leader(struct thread *t)
{
	for (;;) {
		int before = started_waits;

		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
		start(t);
		EVENTUALLY(started_waits > before || is_asleep(t));
		if (started_waits > before)
			return;
		end_wait(t);
	}
}
