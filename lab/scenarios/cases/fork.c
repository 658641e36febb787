/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#include <stdio.h>

static void run_fork(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", LAB_JOIN_ALONE);
	struct lab_order e = { .verb = LAB_DO_FORK };
	struct lab_reply r;

	snprintf(e.name, sizeof(e.name), "%s", t->name);
	r = lab_do(a, &e);
	lab_expect(t, r.rc == DLOCK_OK && !*r.text, "%s", r.text);
	r = lab_give(a);
	lab_expect(t, r.rc == DLOCK_OK,
		   "the parent's hold ended with its child: %s", r.text);
}

/* The conform case: fork_child_refused. */
const struct lab_scenario lab_scenario_fork = {
	.id = "fork",
	.title = "fork",
	.guarantee = "a forked child holds nothing and does no harm",
	.place = 310,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run_fork,
};
