/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#include <stdio.h>
#include <stdlib.h>

static void run_pair(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_order e = { .verb = LAB_DO_PAIRS,
			       .run_ms = lab_of(t, 500, 3000),
			       .count = 50,
			       .other = "pairs" };
	double floor_us = lab_sut_floor_us(t->sut);
	struct lab_reply r;
	double *us;
	size_t n;

	snprintf(e.name, sizeof(e.name), "%s", t->name);
	lab_tell(a, &e);
	r = lab_hear(a, LAB_LONG_MS);
	lab_expect(t, r.rc == DLOCK_OK, "%s", r.text);
	us = t->broken ? NULL : lab_samples(t, e.other, &n);
	if (us)
		lab_measured_all(t, "pair", "acquire + release, nobody else",
				 "us", us, n, floor_us < 0 ? -1 : 2 * floor_us,
				 "two bare round trips");
	free(us);
}

const struct lab_scenario lab_scenario_pair = {
	.id = "pair",
	.title = "uncontended use",
	.guarantee = "a free lock is granted, time after time",
	.place = 120,
	.measured = true,
	.run = run_pair,
};
