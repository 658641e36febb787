/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

/* Without leases, a stopped holder keeps the lock. */
static void stays(struct lab_trial *t, struct lab_scene *s)
{
	struct lab_reply r;

	lab_expect(t, lab_busy(s->b, 500),
		   "B was granted it while A, who was stopped, held it");
	lab_fault_ends(t);
	lab_worker_resume(s->a);
	r = lab_give(s->a);
	lab_expect(t, r.rc == DLOCK_OK, "A, who was stopped, lost it: %s",
		   r.text);
	lab_scene_inherit(t, s, lab_now(), LAB_LONG_MS);
}

static void passes(struct lab_trial *t, struct lab_scene *s)
{
	struct lab_reply r;

	lab_scene_inherit(t, s, t->fault_from, lab_free_bound_ms(t));
	lab_fault_ends(t);
	lab_worker_resume(s->a);
	r = lab_give(s->a);
	lab_expect(t, r.rc == DLOCK_ELOST,
		   "A came back and was not told that it had lost it");
}

static void run_holder_paused(struct lab_trial *t)
{
	struct lab_scene s;

	lab_scene(t, &s, 0);
	lab_fault_begins(t, "the holder is stopped (SIGSTOP)");
	lab_worker_pause(s.a);
	/* A foreign lock may do either; the history tells whether two held. */
	if (t->ttl_ms || (t->sut->foreign && !lab_busy(s.b, 4000)))
		passes(t, &s);
	else
		stays(t, &s);
}

/* The conform case: pause_of_holder. */
const struct lab_scenario lab_scenario_holder_paused = {
	.id = "holder-paused",
	.title = "holder paused past its lease",
	.guarantee = "who comes back knows at once that it lost the lock",
	.place = 210,
	.needs = LAB_NEEDS_PROCESSES,
	.fault = true,
	.run = run_holder_paused,
};
