/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_timed_wait(struct lab_trial *t)
{
	const int64_t wait_ms = 300;
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_worker *b = lab_join(t, "B", 0);
	struct lab_reply r;
	int64_t ms;

	lab_take(a, LAB_LONG_MS);
	r = lab_take(b, wait_ms);
	ms = (r.ended - r.begun) / LAB_MS;
	lab_expect(t, r.rc == DLOCK_EBUSY, "a held lock: \"%s\", not busy",
		   r.rc == DLOCK_OK ? "granted" : r.text);
	/* A foreign command's clock may be coarse. */
	lab_expect(t, ms >= wait_ms - (t->sut->foreign ? 50 : 0),
		   "a wait of 300 ms ended after %d ms", (int)ms);
	lab_expect(t,
		   ms <= wait_ms + t->ask_ms + lab_slack_ms(t) +
				   (t->sut->foreign ? 1000 : 0),
		   "a wait of 300 ms ended after %d ms", (int)ms);
	lab_give(a);
	lab_scene_free(t, b,
		       "who had given up could not take it when it was free");
}

/* The conform case: wait_ends_in_time. */
const struct lab_scenario lab_scenario_timed_wait = {
	.id = "timed-wait",
	.title = "timed wait",
	.guarantee =
		"a wait is over by its timeout, and leaves nothing in the line",
	.place = 40,
	.run = run_timed_wait,
};
