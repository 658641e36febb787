/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#define MOST 10

static void run_holder_killed(struct lab_trial *t)
{
	size_t n = (size_t)lab_of(t, 2, 5);
	double ms[MOST];
	size_t i;

	for (i = 0; i < n && !t->failed && !t->broken; i++) {
		struct lab_scene s;

		lab_scene(t, &s, 0);
		lab_fault_begins(t, "the holder is killed");
		lab_worker_kill(s.a);
		ms[i] = lab_scene_inherit(
			t, &s, t->fault_from,
			t->sut->foreign ? LAB_LONG_MS : lab_free_bound_ms(t));
		lab_leave(s.b);
	}
	if (!t->broken)
		lab_measured_all(t, "recover-kill",
				 "free again after its holder was killed", "ms",
				 ms, i, -1, "");
}

/* The conform case: death_of_holder. */
const struct lab_scenario lab_scenario_holder_killed = {
	.id = "holder-killed",
	.title = "holder killed",
	.guarantee = "the lock comes free within its lease, and not before",
	.place = 200,
	.needs = LAB_NEEDS_PROCESSES,
	.caps = DLOCK_CAP_EXPIRE,
	.fault = true,
	.run = run_holder_killed,
};
