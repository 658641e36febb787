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

/* The kernel's table, with calls counted and, for answers, wait() and await()
 * held up. */
static struct dlki_world_type table;
static int (*real_wait)(struct dlki_world *w, unsigned int sets,
			struct dlki_event *out, int room, dlk_time until);
static ssize_t (*real_await)(struct dlki_world *w, int sock, void *out,
			     size_t size);
static void (*real_kick)(struct dlki_world *w, enum dlki_set set);
static atomic_int waits[DLKI_SETS], kicks[DLKI_SETS];
static atomic_int awaits, await_held_up, parked_waits, held_up, is_held_up;
static _Thread_local int is_parked_thread;

static int counted_wait(struct dlki_world *w, unsigned int sets,
			struct dlki_event *out, int room, dlk_time until)
{
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set))
			waits[set]++;
	}
	if (is_parked_thread)
		parked_waits++;
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

static void counted_kick(struct dlki_world *w, enum dlki_set set)
{
	kicks[set]++;
	real_kick(w, set);
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

static void setup_led(unsigned int sets)
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
	real_await = table.await;
	table.await = counted_await;
	real_kick = table.kick;
	table.kick = counted_kick;
	world->type = &table;
	options.world = world;
	options.news = &news;
	cr_assert_eq(dlki_address_tcp(&address, "127.0.0.1", server_start(0)),
		     0);
	engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(engine);
	cr_assert_eq(dlki_drive_begin(engine, sets, &err), 0);
}

static void setup(void)
{
	setup_led(DLKI_ALL_SETS);
}

static void setup_pumped(void)
{
	setup_led(DLKI_BIT(DLKI_ANSWERS));
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

/* ---- Waiters in threads -------------------------------------------------- */

struct thread {
	struct dlki_waiter waiter;
	pthread_t id;
	atomic_int is_over;
};

static void *wait_in_thread(void *arg)
{
	struct thread *t = arg;

	is_parked_thread = 1;
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert(dlki_drive(engine, &t->waiter, DLK_FOREVER));
	dlki_unlock(engine);
	t->is_over = 1;
	return NULL;
}

static int is_asleep(const struct thread *t)
{
	int yes;

	cr_assert_eq(dlki_lock(engine), 0);
	yes = t->waiter.asleep;
	dlki_unlock(engine);
	return yes;
}

static int is_in_wait(void)
{
	int yes;

	cr_assert_eq(dlki_lock(engine), 0);
	yes = engine->in_wait[DLKI_ANSWERS];
	dlki_unlock(engine);
	return yes;
}

static void end_wait(struct thread *t)
{
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_waiter_done(engine, &t->waiter);
	dlki_unlock(engine);
	EVENTUALLY(t->is_over);
	pthread_join(t->id, NULL);
}

static void start(struct thread *t, enum dlki_set set)
{
	t->is_over = 0;
	dlki_waiter_init(&t->waiter, set);
	pthread_create(&t->id, NULL, wait_in_thread, t);
}

/* Start the thread again until it leads: the loop's own may be quicker. */
static void start_leader(struct thread *t)
{
	for (;;) {
		int before = parked_waits;

		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
		start(t, DLKI_ANSWERS);
		EVENTUALLY(parked_waits > before || is_asleep(t));
		if (parked_waits > before)
			return;
		end_wait(t);
	}
}

Test(drive, answers_to_others_wake_no_parked_waiter, .init = setup,
     .fini = teardown)
{
	enum { PAIRS = 300 };
	struct thread parked;
	int before;

	cr_assert_eq(call(DLKI_ATTEMPT, 2), DLKI_GRANTED);
	cr_assert_eq(call(DLKI_ATTEMPT, 0x102), DLKI_BUSY); /* the ear */
	before = parked_waits;
	start(&parked, DLKI_NEWS);
	EVENTUALLY(parked_waits > before || is_asleep(&parked));
	before = parked_waits;
	for (int i = 0; i < PAIRS; i++) {
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
		cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
	}
	cr_assert_leq(parked_waits - before, 4, "%d waits",
		      parked_waits - before);
	end_wait(&parked);
}

/* ---- Successors ---------------------------------------------------------- */

Test(drive, a_late_leader_leads_no_longer, .init = setup, .fini = teardown)
{
	struct dlki_waiter w;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	dlki_waiter_init(&w, DLKI_ANSWERS);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert(!dlki_drive(engine, &w, dlk_now() + 20 * DLK_MS));
	dlki_unlock(engine);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
}

Test(drive, a_leader_that_leaves_names_a_follower, .init = setup,
     .fini = teardown)
{
	struct thread t[3];

	start_leader(&t[0]);
	for (int i = 1; i < 3; i++) {
		start(&t[i], DLKI_ANSWERS);
		EVENTUALLY(is_asleep(&t[i]));
	}
	for (int i = 0; i < 3; i++) {
		end_wait(&t[i]);
		if (i < 2)
			cr_assert(!is_asleep(&t[i + 1]), "%d", i);
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	}
}

/* ---- Seats --------------------------------------------------------------- */

/* Threads that share a condition are woken together. * */
Test(drive, each_of_many_sleepers_is_woken, .init = setup, .fini = teardown)
{
	enum { MANY = 150 };
	static struct thread t[MANY];

	start_leader(&t[0]);
	for (int i = 1; i < MANY; i++) {
		start(&t[i], DLKI_ANSWERS);
		EVENTUALLY(is_asleep(&t[i]));
	}
	for (int i = MANY - 1; i >= 0; i--) {
		dlk_time begun = dlk_now();

		end_wait(&t[i]);
		cr_assert_lt(dlk_now() - begun, 1000 * slowness() * DLK_MS,
			     "%d", i);
	}
}

/* Without a wake a sleeper looks again after five seconds. */
Test(drive, a_leader_that_waits_on_has_woken_the_follower, .init = setup,
     .fini = teardown)
{
	struct thread t;
	dlk_time begun;

	start_leader(&t);
	begun = dlk_now();
	for (int i = 0; i < 5; i++)
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	cr_assert_lt(dlk_now() - begun, 1000 * slowness() * DLK_MS);
	end_wait(&t);
}

/* ---- Cancellation -------------------------------------------------------- */

/* pthread_cancel() of a leader takes effect after the wait, and the set has a
 * leader all along. */
Test(drive, a_cancelled_leader_leaves_first, .init = setup, .fini = teardown)
{
	struct thread t;
	int before;

	start_leader(&t);
	cr_assert_eq(pthread_cancel(t.id), 0);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	EVENTUALLY(is_in_wait());
	before = kicks[DLKI_ANSWERS];
	end_wait(&t);
	cr_assert_gt(kicks[DLKI_ANSWERS], before);
	cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
}

/* ---- A leader that does not run ------------------------------------------ */

Test(drive, a_stopped_leader_delays_no_deadline, .init = setup,
     .fini = teardown)
{
	dlk_time deadline;
	struct thread t;
	struct call c;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	held_up = 1;
	start(&t, DLKI_ANSWERS);
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
	end_wait(&t);
}

static void *attempt_in_thread(void *arg)
{
	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	*(atomic_int *)arg = 1;
	return NULL;
}

/* A thread that waits for its answer in await(), and does not come back before
 * `await_held_up` is 0 again.  The loop's own thread may lead instead. */
static pthread_t start_awaiting(atomic_int *is_over)
{
	int before = awaits;
	pthread_t id;

	await_held_up = 1;
	for (;;) {
		*is_over = 0;
		pthread_create(&id, NULL, attempt_in_thread, is_over);
		EVENTUALLY(awaits > before || *is_over);
		if (awaits > before)
			return id;
		pthread_join(id, NULL);
	}
}

static int has_ended(const struct call *c)
{
	int ended;

	cr_assert_eq(dlki_lock(engine), 0);
	ended = c->ended;
	dlki_unlock(engine);
	return ended;
}

/* The leader hears no kick: another thread rings. */
Test(drive, a_leader_in_await_delays_no_deadline, .init = setup_pumped,
     .fini = teardown)
{
	dlk_time deadline;
	atomic_int is_over;
	pthread_t id;
	struct call c;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	id = start_awaiting(&is_over);
	deadline = dlk_now() + 50 * DLK_MS;
	prepare(&c, DLKI_ATTEMPT, 2, deadline, 0);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_submit(engine, &c.op), 0);
	dlki_push(engine);
	dlki_unlock(engine);
	EVENTUALLY(has_ended(&c));
	cr_assert_eq(c.op.outcome, DLKI_UNANSWERED);
	cr_assert_geq(dlk_now(), deadline);
	cr_assert_leq(dlk_now(), deadline + slack_ms() * DLK_MS);
	cr_assert_not(is_over);
	await_held_up = 0;
	pthread_join(id, NULL);
}

/* ---- A pumped set -------------------------------------------------------- */

static dlk_time rang_at;

static void rings(struct dlki_alarm *a, dlk_time now)
{
	(void)a;
	rang_at = now;
}

static dlk_time rang(void)
{
	dlk_time at;

	cr_assert_eq(dlki_lock(engine), 0);
	at = rang_at;
	dlki_unlock(engine);
	return at;
}

/* A thread that pumps goes away: another one must ring what it has set. */
Test(drive, an_alarm_of_the_pump_rings_in_time, .init = setup_pumped,
     .fini = teardown)
{
	struct dlki_alarm alarm = { .ring = rings };
	dlk_time at;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_alarms_reserve(dlki_engine_alarms(engine), 1), 0);
	at = dlk_now() + 50 * DLK_MS;
	dlki_alarm_set(dlki_engine_alarms(engine), &alarm, at);
	dlki_drive_pump(engine, DLKI_NEWS);
	dlki_unlock(engine);
	EVENTUALLY(rang() != 0);
	cr_assert_geq(rang(), at);
	cr_assert_leq(rang(), at + slack_ms() * DLK_MS);
	cr_assert_eq(waits[DLKI_NEWS], 1, "only the pump has looked there");
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
		int rc;

		alarm(1 + (unsigned int)(patience_ms() / 1000));
		rc = dlki_lock(engine);
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
}
