/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_left_behind(struct lab_trial *t)
{
	int64_t before, after, bytes, more;
	struct lab_scene s;
	struct lab_reply r;

	before = t->sut->kind->left(t->sut, &bytes);
	lab_scene(t, &s, 0);
	lab_give(s.a);
	lab_scene_inherit(t, &s, lab_now(), LAB_LONG_MS);
	lab_take(s.a, LAB_LONG_MS);
	lab_tell_take(s.b, 100);
	r = lab_hear(s.b, LAB_LONG_MS);
	lab_expect(t, r.rc == DLOCK_EBUSY, "a held lock was not busy");
	lab_give(s.a);
	lab_leave(s.a);
	lab_leave(s.b);
	after = t->sut->kind->left(t->sut, &more);
	lab_measured(t, "left", "things left in the server for one name", "",
		     false, (double)(after - before));
	if (bytes >= 0 && more >= 0)
		lab_measured(t, "left-bytes",
			     "bytes left in the server for one name", "bytes",
			     false, (double)(more - bytes));
	lab_expect(t, after - before <= t->sut->kind->stays,
		   "%d things were left in the server, and %d may: %s",
		   (int)(after - before), t->sut->kind->stays,
		   t->sut->kind->what_stays);
	if (after > before)
		lab_remark(t, "what is left: %s", t->sut->kind->what_stays);
}

/* The conform case: leftover_waits. */
const struct lab_scenario lab_scenario_left_behind = {
	.id = "left-behind",
	.title = "nothing left behind",
	.guarantee = "no claim, no waiter is left in the store",
	.place = 130,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_DEPTH,
	.measured = true,
	.run = run_left_behind,
};
