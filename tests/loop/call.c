/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of calls: without memory; and begun, with an end before the call. */
#include <criterion/criterion.h>

#include "core/loop/call.h"
#include "tests/loop/rig.h"
#include "tests/loop/shortage.h"

static struct dlki_opcall_op ops[RIG_OPS];
static int ended[RIG_OPS];

static void count(struct dlki_opcall_op *op, dlk_time now)
{
	(void)now;
	ended[op - ops]++;
}

/* The engine has room for a few ops, and needs memory for more. */
static int begin_until_shortage(struct dlki_session *s, int first)
{
	int last = first - 1;

	do {
		last++;
		ops[last].ended = count;
		dlki_opcall_op_prepare(&ops[last], s, DLKI_ATTEMPT,
				       DLK_FOREVER);
		shortage_at(1);
		dlki_opcall_op_begin(&ops[last]);
	} while (last < RIG_OPS - 1 && !shortage_came());
	shortage_at(0);
	return last;
}

Test(opcall, tells_the_end_of_an_op_that_was_not_begun_for_want_of_memory,
     .fini = rig_free)
{
	struct dlki_session s = { 0 };
	int last;

	rig_init_up("");
	s.engine = rig.e;
	last = begin_until_shortage(&s, 0);
	cr_assert(last > 0 && last < RIG_OPS - 1);
	for (int i = 0; i < last; i++)
		cr_assert(ops[i].begun && ended[i] == 0);
	cr_assert(!ops[last].begun);
	cr_assert_eq(ended[last], 1);
	cr_assert_eq(ops[last].base.outcome, DLKI_FAILED);
	cr_assert(!dlki_opcall_op_was_sent(&ops[last]));
}

/* The first op ends by `answer`, ahead of the call. */
static void end_early(struct dlki_session *s, const char *answer)
{
	rig_init_up("");
	s->engine = rig.e;
	dlki_opcall_op_prepare(&ops[0], s, DLKI_ATTEMPT, DLK_FOREVER);
	dlki_opcall_op_begin(&ops[0]);
	rig_push();
	rig_say(0, answer);
	cr_assert_eq(ops[0].base.state, DLKI_OP_IDLE);
}

/* The engine frees an op's error behind done(). */
static void fails_without_the_early_error(const char *answer)
{
	struct dlki_session s = { .server = "it" };
	struct dlki_opcall call;
	struct dlk_error err;

	end_early(&s, answer);
	dlki_unlock(rig.e);
	dlki_opcall_begin(&call, &s, 0);
	dlki_opcall_add(&call, &ops[0]);
	cr_assert(LIST_EMPTY(&call.ops));
	cr_assert_eq(call.failed.code, 0, "%d", call.failed.code);
	cr_assert_eq(dlki_opcall_error(&call, &ops[0], &err),
		     DLOCK_EUNREACHABLE, "%d", err.code);
	dlki_opcall_end(&call);
	cr_assert_eq(dlki_lock(rig.e), 0);
}

Test(opcall, without_time_left_does_not_read_the_error_of_an_op_failed_before,
     .fini = rig_free)
{
	fails_without_the_early_error("F\n");
}

Test(opcall, without_time_left_does_not_read_the_error_of_an_op_busy_before,
     .fini = rig_free)
{
	fails_without_the_early_error("X in the way\n");
}

/* The other ops have taken the room of the op. */
Test(opcall, says_that_there_is_no_memory_to_send_an_op_again, .fini = rig_free)
{
	struct dlki_session s = { .server = "it" };
	struct dlki_opcall call;
	struct dlk_error err;

	end_early(&s, "F\n");
	cr_assert_lt(begin_until_shortage(&s, 1), RIG_OPS - 1);
	dlki_unlock(rig.e);
	dlki_opcall_begin(&call, &s, DLK_FOREVER);
	shortage_at(1);
	dlki_opcall_add(&call, &ops[0]);
	shortage_at(0);
	cr_assert(LIST_EMPTY(&call.ops));
	cr_assert_eq(dlki_opcall_error(&call, &ops[0], &err), DLOCK_ENOMEM,
		     "%d", err.code);
	dlki_opcall_end(&call);
	cr_assert_eq(dlki_lock(rig.e), 0);
}
