/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_waiting_cost(struct lab_trial *t)
{
	struct lab_scene s;
	struct lab_reply before, after;
	int64_t ms = lab_of(t, 1000, 3000);
	/* A look now and then, in case a wake was lost, is no polling. */
	int64_t least = 1 + (t->ttl_ms ? 4 * ms / t->ttl_ms : ms / 500);
	uint64_t asked;

	lab_scene(t, &s, 0);
	before = lab_beside(s.b, LAB_DO_STATS);
	lab_busy(s.b, ms);
	after = lab_beside(s.b, LAB_DO_STATS);
	asked = after.attempts - before.attempts;
	lab_give(s.a);
	lab_scene_inherit(t, &s, lab_now(), LAB_LONG_MS);
	lab_measured(t, "waiting", "requests per waiter and second", "1/s",
		     false, (double)asked * 1000 / (double)ms);
	if (t->sut->caps & DLOCK_CAP_WAKE)
		lab_expect(t, asked <= (uint64_t)least,
			   "declares WAKE, and a waiter asked %d times in %d "
			   "ms",
			   (int)asked, (int)ms);
	else
		lab_remark(t, "not declared; a waiter asked %d times in %d ms",
			   (int)asked, (int)ms);
}

/* The conform case: wake_costs_little. */
const struct lab_scenario lab_scenario_waiting_cost = {
	.id = "waiting-cost",
	.title = "waiting costs nothing",
	.guarantee = "a waiter is woken by the release and does not poll",
	.place = 110,
	.caps = DLOCK_CAP_WAKE,
	.even_without = true,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run_waiting_cost,
};
