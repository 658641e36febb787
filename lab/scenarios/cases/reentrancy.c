/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#include <stdio.h>

static void run_reentrancy(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_worker *b = lab_join(t, "B", 0);
	struct lab_order e = { .verb = LAB_DO_REENTER };
	struct lab_reply r;

	snprintf(e.name, sizeof(e.name), "%s", t->name);
	r = lab_do(a, &e);
	lab_expect(t, r.rc == DLOCK_OK && !*r.text, "%s", r.text);
	r = lab_take(b, 0);
	lab_expect(t, r.rc == DLOCK_EBUSY,
		   "B asked while A had one of its three takings left: \"%s\", "
		   "not busy",
		   r.rc == DLOCK_OK ? "granted" : r.text);
	lab_give(a);
	lab_scene_free(t, b, "it was not free after all releases");
}

const struct lab_scenario lab_scenario_reentrancy = {
	.id = "reentrancy",
	.title = "re-entrancy",
	.guarantee = "taken again by its holder, free after as many releases",
	.place = 20,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run_reentrancy,
};
