/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_cancel(struct lab_trial *t)
{
	struct lab_scene s;
	struct lab_reply r;
	int64_t begun;

	lab_scene(t, &s, 0);
	begun = lab_now();
	lab_beside(s.b, LAB_DO_CANCEL);
	r = lab_hear(s.b, 5000);
	lab_expect(t, r.rc == DLOCK_ECANCELED, "a cancelled wait: %s", r.text);
	lab_expect(t, r.ended - begun < (t->ask_ms + lab_slack_ms(t)) * LAB_MS,
		   "cancelling took %d ms", (int)((r.ended - begun) / LAB_MS));
	lab_give(s.a);
	lab_scene_free(t, lab_join(t, "C", 0),
		       "who was cancelled still stood in the line");
}

const struct lab_scenario lab_scenario_cancel = {
	.id = "cancel",
	.title = "cancel",
	.guarantee = "a cancelled wait ends at once, and leaves nothing behind",
	.place = 50,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run_cancel,
};
