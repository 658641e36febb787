/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#define MOST 400

/* Have two workers pass the lock: one waits when the other releases. */
static void run_hand_off(struct lab_trial *t)
{
	struct lab_worker *p[2] = { lab_join(t, "A", 0), lab_join(t, "B", 0) };
	size_t n = (size_t)lab_of(t, 30, 200);
	double floor_us = lab_sut_floor_us(t->sut);
	double given[MOST], woken[MOST];
	size_t i;

	lab_take(p[0], LAB_LONG_MS);
	for (i = 0; i < n && !t->failed && !t->broken; i++) {
		struct lab_worker *from = p[i % 2];
		struct lab_worker *to = p[(i + 1) % 2];
		struct lab_reply r, got;

		lab_tell_take(to, LAB_LONG_MS);
		lab_await_waiting(to);
		r = lab_give(from);
		got = lab_hear(to, LAB_LONG_MS);
		lab_expect(t, got.rc == DLOCK_OK, "the waiter: %s", got.text);
		given[i] = (double)(got.ended - r.begun) / 1e3;
		woken[i] = (double)(got.ended - r.ended) / 1e3;
		if (woken[i] < 0)
			woken[i] = 0;
	}
	if (t->failed || t->broken)
		return;
	lab_give(p[i % 2]);
	lab_measured_all(t, "hand-off", "hand-off: release called to granted",
			 "us", given, i, floor_us, "one bare round trip");
	lab_measured_all(t, "wake-up", "wake-up: release returned to granted",
			 "us", woken, i, -1, "");
}

/* The conform case: wake_by_release. */
const struct lab_scenario lab_scenario_hand_off = {
	.id = "hand-off",
	.title = "hand-off",
	.guarantee = "a release lets the next one in",
	.place = 100,
	.measured = true,
	.run = run_hand_off,
};
