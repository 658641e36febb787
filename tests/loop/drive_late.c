/* SPDX-License-Identifier: Apache-2.0 */
/* Leaders that are cancelled, stopped or forked, and a pumped set. */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/client.h"
#include "core/loop/call.h"
#include "support/wait.h"
#include "tests/loop/driven.h"

static int is_in_wait(void)
{
	int yes;

	cr_assert_eq(dlki_lock(engine), 0);
	yes = engine->in_wait[DLKI_ANSWERS];
	dlki_unlock(engine);
	return yes;
}

/* ---- Cancellation -------------------------------------------------------- */

/* pthread_cancel() of a leader takes effect after the wait, and the set has a
 * leader all along. */
Test(drive, a_cancelled_leader_leaves_first, .init = setup)
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

Test(drive, a_stopped_leader_delays_no_deadline, .init = setup)
{
	dlk_time deadline;
	struct thread t;
	struct call c;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	held_up = 1;
	start(&t);
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

/* Without a kick a leader looks again after seconds. */
Test(drive, a_leader_hears_a_kick_before_the_wait, .init = setup)
{
	struct thread t;
	dlk_time begun;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	held_up = 1;
	start(&t);
	EVENTUALLY(is_held_up);
	begun = dlk_now();
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_waiter_done(engine, &t.waiter);
	dlki_unlock(engine);
	held_up = 0;
	EVENTUALLY(t.is_over);
	cr_assert_lt(dlk_now() - begun, 1000 * slowness() * DLK_MS);
	pthread_join(t.id, NULL);
}

static void *attempt_in_thread(void *arg)
{
	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	*(atomic_int *)arg = 1;
	return NULL;
}

/* Start a thread that waits for an answer in await(), and stays there until
 * `await_held_up` is 0 again.  The loop's thread may lead instead. */
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

/* Let the deadline of an op go by while a leader is in await(). */
static void let_one_end(struct call *c, dlk_time deadline)
{
	prepare(c, DLKI_ATTEMPT, 2, deadline, 0);
	submit(c);
	EVENTUALLY(has_ended(c));
	cr_assert_eq(c->op.outcome, DLKI_UNANSWERED);
}

/* The leader hears no kick: another thread rings. */
Test(drive, a_leader_in_await_delays_no_deadline, .init = setup)
{
	dlk_time deadline;
	atomic_int is_over;
	pthread_t id;
	struct call c;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	id = start_awaiting(&is_over);
	deadline = dlk_now() + 50 * DLK_MS;
	let_one_end(&c, deadline);
	cr_assert_geq(dlk_now(), deadline);
	cr_assert_leq(dlk_now(), deadline + slack_ms() * DLK_MS);
	cr_assert_not(is_over);
	await_held_up = 0;
	pthread_join(id, NULL);
}

/* The leader looks for silence, and no other thread runs meanwhile. */
Test(drive, a_silent_link_with_a_leader_in_await_costs_no_time, .init = setup)
{
	atomic_int is_over;
	struct call c;
	pthread_t id;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	nap_ms(5);
	id = start_awaiting(&is_over);
	let_one_end(&c, dlk_now() + 50 * DLK_MS);
	EVENTUALLY(turns_in_a_while() == 0);
	await_held_up = 0;
	pthread_join(id, NULL);
}

/* The leader loses the processor in a write.  A push behind that tells the
 * loop's thread of the deadline. */
Test(drive, a_silent_link_with_a_leader_in_a_write_costs_no_time, .init = setup)
{
	struct thread t;
	struct call c;

	start_leader(&t);
	write_held_up = 1;
	prepare(&c, DLKI_ATTEMPT, 2, dlk_now() + 100 * DLK_MS, 0);
	submit(&c);
	EVENTUALLY(is_in_write);
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_push(engine);
	dlki_unlock(engine);
	EVENTUALLY(has_ended(&c));
	cr_assert_eq(c.op.outcome, DLKI_UNANSWERED);
	cr_assert_lt(turns_in_a_while(), 100);
	write_held_up = 0;
	end_wait(&t);
}

/* ---- The loop's thread --------------------------------------------------- */

/* An answer comes for which no thread waits. */
static void expect_an_answer(void)
{
	struct call c;

	prepare(&c, DLKI_ATTEMPT, 1, DLK_FOREVER, 0);
	submit(&c);
	EVENTUALLY(has_ended(&c));
	cr_assert_eq(c.op.outcome, DLKI_GRANTED);
}

/* All has been quiet for a while; and then a leader has just left. */
Test(drive, an_answer_that_no_thread_waits_for_is_read, .init = setup)
{
	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	EVENTUALLY(turns_in_a_while() == 0);
	expect_an_answer();
	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	expect_an_answer();
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

/* The pumping thread goes away, and another must ring the alarm. */
Test(drive, an_alarm_of_the_pump_rings_in_time, .init = setup)
{
	struct dlki_alarm alarm = { .ring = rings };
	dlk_time at;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_eq(dlki_alarms_reserve(&engine->alarms, 1), 0);
	at = dlk_now() + 50 * DLK_MS;
	dlki_alarm_set(&engine->alarms, &alarm, at);
	dlki_drive_pump(engine);
	dlki_unlock(engine);
	EVENTUALLY(rang() != 0);
	cr_assert_geq(rang(), at);
	cr_assert_leq(rang(), at + slack_ms() * DLK_MS);
	cr_assert_eq(waits[DLKI_NEWS], 1, "only the pump has looked there");
}

/* ---- fork ---------------------------------------------------------------- */

Test(drive, a_forked_child_touches_nothing, .init = setup)
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

/* ---- A call without a waiting thread ------------------------------------- */

/* The request goes out with the first call that waits. */
Test(drive, a_call_is_gone_on_with_later, .init = setup)
{
	static struct dlock_client client = { .ask.given = 1 };
	struct dlk_session base = { .core = &client };
	struct dlki_session s = { .base = &base, .engine = engine };
	struct dlk_ticket t = { .no_wait = 1 };
	struct dlki_opcall stack, *of;
	struct dlki_opcall_op op = { 0 };

	dlki_opcall_op_prepare(&op, &s, DLKI_ATTEMPT, soon());
	op.base.id = op.base.token = 1;
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(dlki_lock(engine), 0);
		cr_assert_null(
			dlki_opcall_carry_out(&op, &stack, &t, soon(), 1));
		cr_assert_not_null(op.own);
	}
	t.no_wait = 0;
	cr_assert_eq(dlki_lock(engine), 0);
	of = dlki_opcall_carry_out(&op, &stack, &t, soon(), 1);
	cr_assert(of && of != &stack && !op.own);
	cr_assert_eq(op.base.outcome, DLKI_GRANTED);
	dlki_opcall_done(of);
	cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
}

/* ... or not at all. */
Test(drive, a_call_is_forgone, .init = setup)
{
	struct dlk_session base = { 0 };
	struct dlki_session s = { .base = &base, .engine = engine };
	const struct dlk_ticket t = { .no_wait = 1 };
	struct dlki_opcall_op op = { 0 };
	struct dlki_opcall stack;

	dlki_opcall_op_prepare(&op, &s, DLKI_ATTEMPT, soon());
	op.base.id = op.base.token = 1;
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert_null(dlki_opcall_carry_out(&op, &stack, &t, soon(), 1));
	cr_assert_eq(dlki_lock(engine), 0);
	dlki_opcall_forgo(&op);
	dlki_unlock(engine);
	cr_assert(!op.own && LIST_EMPTY(&s.calls));
	cr_assert_eq(op.base.outcome, DLKI_UNSENT);
}

/* ---- A call for several ops ---------------------------------------------- */

/* An op may come when all earlier ops of the call have ended. */
Test(drive, a_call_gets_another_op, .init = setup)
{
	static struct dlock_client client = { .ask.given = 1 };
	struct dlk_session base = { .core = &client };
	struct dlki_session s = { .base = &base, .engine = engine };
	struct dlki_opcall_op ops[2] = { 0 };
	struct dlki_opcall of;

	dlki_opcall_begin(&of, &s, soon());
	for (unsigned int i = 0; i < 2; i++) {
		dlki_opcall_op_prepare(&ops[i], &s, DLKI_ATTEMPT, soon());
		ops[i].base.id = ops[i].base.token = i + 1;
		dlki_opcall_add(&of, &ops[i]);
		dlki_opcall_await(&of);
		cr_expect(LIST_EMPTY(&of.ops));
		cr_expect_eq(ops[i].base.outcome, DLKI_GRANTED);
	}
	dlki_opcall_end(&of);
	for (unsigned int i = 0; i < 2; i++)
		cr_assert_eq(call(DLKI_RELEASE, i + 1), DLKI_ANSWERED);
}

/* The ops are of others, too. */
Test(drive, a_cancelled_wait_leaves_the_call, .init = setup)
{
	struct dlk_session base = { 0 };
	struct dlki_session s = { .base = &base, .engine = engine };
	_Atomic uint64_t cancels = 1;
	struct dlki_patience patience = { .cancels = &cancels };
	struct dlki_opcall_op op = { 0 };
	struct dlki_opcall of;

	write_held_up = 1;
	dlki_opcall_begin(&of, &s, soon());
	dlki_opcall_op_prepare(&op, &s, DLKI_ATTEMPT, soon());
	op.base.id = 1;
	dlki_opcall_add(&of, &op);
	dlki_patience_begin(&patience);
	cr_expect_eq(dlki_opcall_await_until(&of, soon()), 0);
	dlki_patience_end(&patience);
	cr_expect_eq(LIST_FIRST(&of.ops), &op);
	of.deadline = 0;
	dlki_opcall_await(&of);
	dlki_opcall_end(&of);
}
