/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_server_flushed(struct lab_trial *t)
{
	struct lab_scene s;
	int64_t begun;

	lab_scene(t, &s, 0);
	begun = lab_now();
	lab_fault_begins(t, "the server is told to forget everything");
	lab_must(t, t->sut->kind->flush(t->sut));
	lab_fault_ends(t);
	lab_history_wiped(t->history, "", begun, true);
	lab_scene_inherit(t, &s, begun, LAB_LONG_MS / 2);
	lab_wait(t, lab_found_bound_ms(t));
	lab_scene_end(t, &s);
}

const struct lab_scenario lab_scenario_server_flushed = {
	.id = "server-flushed",
	.title = "server flushed",
	.guarantee = "the loss is found within a third of the lease",
	.place = 280,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_FLUSH | LAB_NEEDS_SERVER,
	.fault = true,
	.may_lose = true,
	.run = run_server_flushed,
};
