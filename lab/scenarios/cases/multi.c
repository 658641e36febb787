/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#include <stdio.h>

/* Have two workers take both locks, named in opposite order. */
static void run_multi(struct lab_trial *t)
{
	struct lab_worker *p[2] = { lab_join(t, "A", 0), lab_join(t, "B", 0) };
	struct lab_order e = { .verb = LAB_DO_MULTI,
			       .timeout_ms = LAB_LONG_MS,
			       .run_ms = lab_of(t, 300, 1500),
			       .hold_us = 300 };

	for (int i = 0; i < 2; i++) {
		snprintf(i ? e.other : e.name, LAB_NAME, "%.30s-x", t->name);
		snprintf(i ? e.name : e.other, LAB_NAME, "%.30s-y", t->name);
		lab_tell(p[i], &e);
	}
	for (int i = 0; i < 2; i++) {
		struct lab_reply r = lab_hear(p[i], LAB_LONG_MS);

		lab_expect(t, r.rc == DLOCK_OK, "%s: %s",
			   lab_worker_label(p[i]), r.text);
		lab_expect(t, r.count > 0, "%s never got both",
			   lab_worker_label(p[i]));
	}
}

/* The conform case: multi_opposite. */
const struct lab_scenario lab_scenario_multi = {
	.id = "multi",
	.title = "multi-lock",
	.guarantee = "all or none, without deadlock, in whatever order",
	.place = 80,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run_multi,
};
