/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread runs the loop: on the kernel's sockets, with a server beside. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/loop/drive.h"
#include "core/loop/state.h"
#include "core/net/address.h"
#include "core/world/real.h"
#include "support/wait.h"
#include "tests/loop/lines.h"
#include "tests/loop/stress/server.h"

static struct dlki_engine *engine;
static struct dlki_world *world;

/* The kernel's table, with wait() counted and, for a set, held up. */
static struct dlki_world_type table;
static int (*real_wait)(struct dlki_world *w, unsigned int sets,
			struct dlki_event *out, int room, dlk_time until);
static atomic_int waits[DLKI_SETS], held_up, is_held_up;

static int counted_wait(struct dlki_world *w, unsigned int sets,
			struct dlki_event *out, int room, dlk_time until)
{
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set))
			waits[set]++;
	}
	if (sets == DLKI_BIT(DLKI_ANSWERS)) {
		while (held_up) {
			is_held_up = 1;
			nap_ms(1);
		}
	}
	return real_wait(w, sets, out, room, until);
}

/* An op and a waiter for it. */
struct call {
	struct dlki_op op;
	struct dlki_waiter waiter;
	int waits, ended;
};

static void on_done(struct dlki_op *op, dlk_time now)
{
	struct call *c = (struct call *)op;

	(void)now;
	c->ended++;
	if (c->waits)
		dlki_waiter_done(engine, &c->waiter);
}

static void setup(void)
{
	static struct dlki_address address;
	struct dlki_engine_options options = {
		.protocol = &lines_protocol,
		.label = "ear",
		.addresses = &address,
		.n_addresses = 1,
		.connect_ms = patience_ms(),
		.patience_ms = 10 * patience_ms(),
	};
	static const struct dlki_news news;
	struct dlk_error err;

	world = dlki_real_new(&err);
	table = *world->type;
	real_wait = table.wait;
	table.wait = counted_wait;
	world->type = &table;
	options.world = world;
	options.news = &news;
	cr_assert_eq(dlki_address_tcp(&address, "127.0.0.1", server_start(0)),
		     0);
	engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(engine);
	cr_assert_eq(dlki_drive_begin(engine, &err), 0);
}

static void teardown(void)
{
	dlki_drive_end(engine);
	dlki_engine_free(engine);
	dlki_real_free(world);
	server_stop();
}

static void prepare(struct call *c, enum dlki_verb verb, uint64_t n,
		    dlk_time deadline, int waits_for_it)
{
	*c = (struct call){ .waits = waits_for_it };
	c->op.verb = verb;
	c->op.id = c->op.token = n;
	c->op.deadline = deadline;
	c->op.done = on_done;
	dlki_waiter_init(&c->waiter, DLKI_ANSWERS);
}

static dlk_time soon(void)
{
	return dlk_now() + patience_ms() * DLK_MS;
}

/* An attempt of this lock, or a release, to the end; returns the outcome. */
static enum dlki_outcome call(enum dlki_verb verb, uint64_t n)
{
	struct call c;

	prepare(&c, verb, n, soon(), 1);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c.op), 0);
	cr_assert(dlki_drive(engine, &c.waiter, DLK_FOREVER));
	dlki_unlock(engine);
	cr_assert_eq(c.ended, 1);
	dlki_waiter_destroy(&c.waiter);
	return c.op.outcome;
}

Test(drive, a_caller_leads_until_it_has_its_answer, .init = setup,
     .fini = teardown)
{
	for (int i = 0; i < 50; i++) {
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
		cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
	}
}

Test(drive, an_op_that_no_thread_waits_for_ends_at_once, .init = setup,
     .fini = teardown)
{
	struct call c;
	int ended = 0;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	prepare(&c, DLKI_RELEASE, 1, DLK_FOREVER, 0);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c.op), 0);
	dlki_drive_start(engine);
	dlki_unlock(engine);
	for (dlk_time end = soon(); !ended && dlk_now() < end; nap_ms(1)) {
		cr_assert_eq(dlki_lock(engine), 0);
		ended = c.ended;
		dlki_unlock(engine);
	}
	cr_assert_eq(ended, 1);
	cr_assert_eq(c.op.outcome, DLKI_ANSWERED);
	dlki_waiter_destroy(&c.waiter);
}

/* How many turns were begun in a while. */
static int turns_in_a_while(void)
{
	int before = waits[DLKI_ANSWERS] + waits[DLKI_NEWS];

	nap_ms(200);
	return waits[DLKI_ANSWERS] + waits[DLKI_NEWS] - before;
}

Test(drive, an_idle_engine_sleeps, .init = setup, .fini = teardown)
{
	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	EVENTUALLY(turns_in_a_while() == 0);
}

/* ---- A parked waiter ----------------------------------------------------- */

static struct dlki_waiter parked;

static void *park(void *arg)
{
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert(dlki_drive(engine, &parked, DLK_FOREVER));
	dlki_unlock(engine);
	return arg;
}

/* The waiter leads, or another thread does and the waiter sleeps. */
static int is_parked(void)
{
	int yes;

	cr_assert_eq(dlki_lock(engine), 0);
	yes = parked.asleep || engine->in_wait[parked.set];
	dlki_unlock(engine);
	return yes;
}

static void unpark(pthread_t thread)
{
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_waiter_done(engine, &parked);
	dlki_unlock(engine);
	pthread_join(thread, NULL);
	dlki_waiter_destroy(&parked);
}

Test(drive, answers_to_others_wake_no_parked_waiter, .init = setup,
     .fini = teardown)
{
	enum { PAIRS = 300 };
	pthread_t thread;
	int before;

	cr_assert_eq(call(DLKI_ATTEMPT, 2), DLKI_GRANTED);
	cr_assert_eq(call(DLKI_ATTEMPT, 0x102), DLKI_BUSY); /* the ear */
	dlki_waiter_init(&parked, DLKI_NEWS);
	pthread_create(&thread, NULL, park, NULL);
	EVENTUALLY(is_parked());
	before = waits[DLKI_NEWS];
	for (int i = 0; i < PAIRS; i++) {
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
		cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
	}
	cr_assert_lt(waits[DLKI_NEWS] - before, PAIRS / 3, "%d waits",
		     waits[DLKI_NEWS] - before);
	unpark(thread);
}

/* ---- Cancellation -------------------------------------------------------- */

/* pthread_cancel() of a leader takes effect after the wait, and the set has a
 * leader all along. */
Test(drive, a_cancelled_leader_leaves_first, .init = setup, .fini = teardown)
{
	pthread_t thread;
	void *result;

	dlki_waiter_init(&parked, DLKI_ANSWERS);
	pthread_create(&thread, NULL, park, NULL);
	EVENTUALLY(is_parked());
	cr_assert_eq(pthread_cancel(thread), 0);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_waiter_done(engine, &parked);
	dlki_unlock(engine);
	pthread_join(thread, &result);
	cr_assert(result == NULL || result == PTHREAD_CANCELED);
	cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
	dlki_waiter_destroy(&parked);
}

/* ---- A leader that does not run ------------------------------------------ */

Test(drive, a_stopped_leader_delays_no_deadline, .init = setup,
     .fini = teardown)
{
	dlk_time deadline;
	pthread_t thread;
	struct call c;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	dlki_waiter_init(&parked, DLKI_ANSWERS);
	held_up = 1;
	pthread_create(&thread, NULL, park, NULL);
	EVENTUALLY(is_held_up);
	deadline = dlk_now() + 50 * DLK_MS;
	prepare(&c, DLKI_ATTEMPT, 1, deadline, 1);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c.op), 0);
	cr_assert(dlki_drive(engine, &c.waiter, deadline));
	dlki_unlock(engine);
	cr_assert_eq(c.op.outcome, DLKI_UNANSWERED);
	cr_assert_geq(dlk_now(), deadline);
	cr_assert_leq(dlk_now(), deadline + slack_ms() * DLK_MS);
	held_up = 0;
	unpark(thread);
	dlki_waiter_destroy(&c.waiter);
}

/* ---- fork ---------------------------------------------------------------- */

Test(drive, a_forked_child_touches_nothing, .init = setup, .fini = teardown)
{
	struct call c;
	int status;
	pid_t pid;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	/* A request in flight. */
	prepare(&c, DLKI_RELEASE, 1, soon(), 1);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c.op), 0);
	dlki_push(engine);
	pid = fork();
	if (pid == 0) {
		int rc = dlki_lock(engine);

		dlki_drive_end(engine);
		dlki_engine_free(engine);
		_exit(rc == DLOCK_EFORKED ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert(dlki_drive(engine, &c.waiter, DLK_FOREVER));
	dlki_unlock(engine);
	cr_assert_eq(c.op.outcome, DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	dlki_waiter_destroy(&c.waiter);
}
