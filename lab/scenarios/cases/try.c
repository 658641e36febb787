/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_try(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_worker *b = lab_join(t, "B", 0);
	struct lab_reply r = lab_take(a, 0);
	int64_t ms;

	lab_expect(t, r.rc == DLOCK_OK, "a free lock was not granted: %s",
		   r.text);
	r = lab_take(b, 0);
	ms = (r.ended - r.begun) / LAB_MS;
	lab_expect(t, r.rc == DLOCK_EBUSY, "a held lock: \"%s\", not busy",
		   r.rc == DLOCK_OK ? "granted" : r.text);
	lab_expect(t, ms <= t->ask_ms + lab_slack_ms(t), "a try took %d ms",
		   (int)ms);
	lab_give(a);
	lab_scene_free(t, b, "it was not free after the release");
}

/* The conform case: mutex_try. */
const struct lab_scenario lab_scenario_try = {
	.id = "try",
	.title = "try",
	.guarantee = "asked once: granted if free, else busy, and at once",
	.place = 30,
	.run = run_try,
};
