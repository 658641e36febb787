/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of calls without memory; and the results. */
#include <criterion/criterion.h>
#include <errno.h>

#include "core/loop/call.h"
#include "support/fault.h"
#include "tests/loop/rig.h"

TestSuite(opcall, .init = rig_up, .fini = rig_free);

static struct dlki_opcall_op ops[RIG_OPS];
static int ended[RIG_OPS];

static void count(struct dlki_opcall_op *op, dlk_time now)
{
	(void)now;
	ended[op - ops]++;
}

/* The engine has room for a few ops, and needs memory for more. */
Test(opcall, tells_the_end_of_an_op_that_cannot_be_submitted)
{
	struct dlki_session s = { .engine = rig.e };
	struct dlki_opcall call;
	int last = -1;

	dlki_unlock(rig.e);
	dlki_opcall_begin(&call, &s, DLK_FOREVER);
	do {
		ops[++last].ended = count;
		dlki_opcall_op_prepare(&ops[last], &s, DLKI_ATTEMPT,
				       DLK_FOREVER);
		fault_in("memory", 1, ENOMEM);
		dlki_opcall_add(&call, &ops[last]);
	} while (last < RIG_OPS - 1 && !fault_came());
	cr_assert(last > 0 && last < RIG_OPS - 1);
	cr_assert_eq(ended[last - 1], 0);
	cr_assert_eq(ended[last], 1);
	cr_assert_eq(ops[last].base.outcome, DLKI_FAILED);
	cr_assert(!dlki_opcall_op_was_sent(&ops[last]));
	cr_assert_eq(call.failed.code, DLOCK_ENOMEM);
	for (int i = 0; i < last; i++)
		ops[i].call = NULL; /* they outlive the call here */
	LIST_INIT(&call.ops);
	dlki_opcall_end(&call);
	cr_assert_eq(dlki_lock(rig.e), 0);
}

/* ---- A call for several ops ---------------------------------------------- */

static void add(struct dlki_opcall *call, int i, dlk_time deadline)
{
	dlki_opcall_op_prepare(&ops[i], call->session, DLKI_ATTEMPT, deadline);
	ops[i].base.id = (uint64_t)i + 1;
	dlki_opcall_add(call, &ops[i]);
}

/* The last op goes on. */
static void end(struct dlki_opcall *call, int last)
{
	cr_assert_eq(LIST_FIRST(&call->ops), &ops[last]);
	cr_assert_null(LIST_NEXT(&ops[last], in_ops));
	ops[last].call = NULL;
	LIST_INIT(&call->ops);
	dlki_opcall_end(call);
	cr_assert_eq(dlki_lock(rig.e), 0);
}

/* The answer to the op with less time comes late. */
Test(opcall, an_op_outlives_another_that_had_less_time)
{
	dlk_time soon = rig.world.clock + 7;
	struct dlki_session s = { .engine = rig.e };
	struct dlki_opcall call;

	dlki_unlock(rig.e);
	dlki_opcall_begin(&call, &s, never);
	for (int i = 0; i < 3; i++)
		add(&call, i, i == 0 ? soon : never);
	rig_push();
	rig_turn_until(soon);
	rig_turn();
	cr_assert_eq(ops[0].base.outcome, DLKI_UNANSWERED);
	rig_say(0, "G 1\nM\nH\n");
	cr_assert_not_null(ops[1].call, "it is sent again");
	rig_say(0, "G 2\n");
	cr_assert_eq(ops[1].base.outcome, DLKI_GRANTED);
	end(&call, 2);
}

/* The server is back before the call has ended. */
Test(opcall, an_op_that_found_no_server_begins_anew)
{
	struct dlki_session s = { .engine = rig.e };
	struct dlki_opcall call;

	dlki_unlock(rig.e);
	dlki_opcall_begin(&call, &s, never);
	add(&call, 0, never);
	dlki_opcalls_unreachable(&s);
	add(&call, 1, never);
	rig_push();
	cr_assert_eq(ops[0].base.outcome, DLKI_UNSENT);
	cr_assert(ops[0].unreachable && !ops[1].unreachable);
	add(&call, 0, never);
	rig_push();
	rig_say(0, "H\nM\n");
	cr_assert_not_null(ops[0].call, "it is sent again");
	rig_say(0, "G 1\n");
	cr_assert_eq(ops[0].base.outcome, DLKI_GRANTED);
	cr_assert(!ops[0].unreachable);
	end(&call, 1);
}

/* ---- The reason of a failure --------------------------------------------- */

/* A server refuses a connection: the store is unreachable, unless the engine
 * has given up. */
Test(opcall, tells_the_reason_of_the_engine)
{
	static const struct {
		int why, unreachable, code;
	} cases[] = {
		{ DLOCK_EPROTO, 0, DLOCK_EUNREACHABLE },
		{ DLOCK_EDENIED, 0, DLOCK_EUNREACHABLE },
		{ DLOCK_EINVAL, 0, DLOCK_EUNREACHABLE },
		{ DLOCK_ENOTSUP, 0, DLOCK_EUNREACHABLE },
		{ DLOCK_EEXHAUSTED, 0, DLOCK_EEXHAUSTED },
		{ DLOCK_EPROTO, 1, DLOCK_EPROTO },
		{ DLOCK_EDENIED, 1, DLOCK_EDENIED },
	};
	struct dlki_session s = { .server = "it" };

	rig_init("", 1);
	s.engine = rig.e;
	ops[0].base.outcome = DLKI_UNSENT;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlki_opcall call = { .session = &s };
		struct dlk_error err;

		ops[0].over = 1;
		ops[0].unreachable = cases[i].unreachable;

		dlk_fail(&rig.e->links[0]->why, cases[i].why, "no");
		dlk_fail(&call.why, cases[i].why, "no");
		cr_assert_eq(dlki_opcall_error(&call, &ops[0], &err),
			     cases[i].code, "case %zu: %d", i, err.code);
		cr_assert_eq(err.code, cases[i].code);
		cr_assert_str_eq(err.text, "no");
	}
}

Test(opcall, says_what_was_missing_in_time)
{
	static const struct {
		int up;
		enum dlki_outcome outcome;
		const char *text;
	} cases[] = {
		{ 0, DLKI_UNSENT, "it: not connected in time" },
		{ 1, DLKI_UNSENT,
		  "it: connected, but no time was left to ask anything" },
		{ 1, DLKI_UNANSWERED, "it: no answer in time" },
		{ 1, DLKI_AGAIN, "it did not take the request" },
	};
	struct dlki_session s = { .server = "it" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlki_opcall call = { .session = &s };
		struct dlk_error err;

		if (cases[i].up)
			rig_init_up("");
		else
			rig_init("", 1);
		s.engine = rig.e;
		ops[0].over = 1;
		ops[0].base.outcome = cases[i].outcome;
		cr_assert_eq(dlki_opcall_error(&call, &ops[0], &err),
			     DLOCK_EUNREACHABLE);
		cr_assert_str_eq(err.text, cases[i].text);
	}
}

/* A failed call passes on the reason of an earlier op, if there is any. */
Test(opcall, passes_on_an_earlier_failure)
{
	struct dlki_session s = { .server = "it" };
	struct dlki_opcall call = { .session = &s };
	struct dlk_ticket t = { 0 };
	struct dlk_error err = { 0 };

	s.engine = rig.e;
	dlk_fail(&call.failed, DLOCK_EDENIED, "no");
	ops[0].base.outcome = DLKI_UNANSWERED;
	cr_assert_eq(dlki_opcall_renewed(&call, &ops[0], &t, &err),
		     DLK_UNKNOWN);
	cr_assert_eq(err.code, DLOCK_EDENIED);
	dlk_fail(&call.failed, DLOCK_EPROTO, "another");
	cr_assert_eq(dlki_opcall_renewed(&call, &ops[0], &t, &err),
		     DLK_UNKNOWN);
	cr_assert_eq(err.code, DLOCK_EDENIED, "the first reason stays");
	ops[0].base.outcome = DLKI_ANSWERED;
	ops[0].base.stood = 0;
	cr_assert_eq(dlki_opcall_renewed(&call, &ops[0], &t, &err), DLK_GONE);
	ops[0].base.stood = 1;
	ops[0].base.lease_ms = 900;
	cr_assert_eq(dlki_opcall_renewed(&call, &ops[0], &t, &err),
		     DLK_RENEWED);
	cr_assert_eq(t.lease_ms, 900);
}
