/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of calls, for which there may be no memory. */
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
static int begin_until_shortage(struct dlki_session *s)
{
	int last = -1;

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
	last = begin_until_shortage(&s);
	cr_assert(last > 0 && last < RIG_OPS - 1);
	for (int i = 0; i < last; i++)
		cr_assert(ops[i].begun && ended[i] == 0);
	cr_assert(!ops[last].begun);
	cr_assert_eq(ended[last], 1);
	cr_assert_eq(ops[last].base.outcome, DLKI_FAILED);
	cr_assert(!dlki_opcall_op_was_sent(&ops[last]));
}
