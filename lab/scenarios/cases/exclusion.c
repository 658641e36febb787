/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

/* Run four clients at once; the history tells who held with whom. */
static void run_exclusion(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_MUTEX, LAB_MUTEX, LAB_MUTEX,
						LAB_MUTEX };
	int64_t ms = lab_of(t, 400, 2000);
	int64_t granted = lab_crowd(t, modes, 4, 0, 0, ms);

	lab_measured(t, "contended", "grants to 4 clients that compete", "1/s",
		     true, (double)granted * 1000 / (double)ms);
}

/* The conform case: exclusion_*. */
const struct lab_scenario lab_scenario_exclusion = {
	.id = "exclusion",
	.title = "exclusion under contention",
	.guarantee = "conflicting promise intervals never overlap, tokens rise",
	.place = 10,
	.measured = true,
	.run = run_exclusion,
};
