/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#define HOUR_MS 3600000

static void run_clock_stepped(struct lab_trial *t)
{
	struct lab_scene s;
	int64_t begun;
	int rc;

	lab_scene(t, &s, 0);
	begun = lab_now();
	lab_fault_begins(t, "the server's clock is set ahead by an hour");
	lab_must(t, lab_sut_step_wall(t->sut, HOUR_MS));
	/* Leases by the stepped clock have expired. */
	lab_history_wiped(t->history, "", begun, false);
	lab_wait(t, lab_found_bound_ms(t));
	rc = lab_scene_end(t, &s);
	lab_must(t, lab_sut_step_wall(t->sut, 0));
	lab_fault_ends(t);
	lab_scene_inherit(t, &s, t->fault_to, LAB_LONG_MS / 2);
	lab_remark(t, "the hold was %s",
		   rc == DLOCK_ELOST ? "lost, and its holder told" : "kept");
}

const struct lab_scenario lab_scenario_clock_stepped = {
	.id = "clock-stepped",
	.title = "server's clock stepped",
	.guarantee = "holds are kept, or their loss is found",
	.place = 300,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_WALL | LAB_NEEDS_SERVER,
	.fault = true,
	.may_lose = true,
	.run = run_clock_stepped,
};
