/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#include <stdio.h>

/* Measure how soon a client from before the restart can lock again, another
 * lock. */
static void recover(struct lab_trial *t, struct lab_worker *c, int64_t begun)
{
	struct lab_order e = { .verb = LAB_DO_ACQUIRE,
			       .timeout_ms = LAB_LONG_MS / 2 };
	struct lab_reply r;

	snprintf(e.name, sizeof(e.name), "%.30s-2", t->name);
	r = lab_do(c, &e);
	lab_expect(t, r.rc == DLOCK_OK, "after the restart: %s", r.text);
	lab_measured(t, "recover-restart",
		     "a client can lock again after the server was restarted",
		     "ms", false, (double)(r.ended - begun) / 1e6);
	lab_give(c);
}

/* An ensemble promises clients 7/12 of the lease, less a request. */
static bool took_too_long(const struct lab_trial *t)
{
	return (t->fault_to - t->fault_from) / LAB_MS > t->ttl_ms / 2;
}

static void run_server_restarted(struct lab_trial *t)
{
	bool lasts = t->sut->caps & DLOCK_CAP_DURABLE;
	struct lab_worker *c = lab_join(t, "C: of another lock", 0);
	struct lab_scene s;
	int64_t begun;
	int rc;

	lab_scene(t, &s, 0);
	begun = lab_now();
	lab_fault_begins(t, "the server is killed and started again");
	lab_must(t, lab_sut_kill(t->sut));
	lab_must(t, lab_sut_restart(t->sut));
	lab_fault_ends(t);
	if (!lasts)
		lab_history_wiped(t->history, "", begun, true);
	recover(t, c, begun);
	if (!lasts) {
		lab_scene_inherit(t, &s, begun, LAB_LONG_MS / 2);
		/* A may take so long to find out. */
		lab_wait(t, lab_found_bound_ms(t));
	}
	rc = lab_scene_end(t, &s);
	if (lasts && rc == DLOCK_ELOST && took_too_long(t))
		lab_trial_fail(t, "the restart took longer than the lease");
	lab_expect(t, rc != DLOCK_ELOST || !lasts,
		   "declares DURABLE, and a hold was lost by a restart");
	if (lasts)
		lab_scene_inherit(t, &s, begun, LAB_LONG_MS / 2);
}

const struct lab_scenario lab_scenario_server_restarted = {
	.id = "server-restarted",
	.title = "server restarted",
	.guarantee =
		"a hold survives, or its loss is found within a third of the "
		"lease",
	.place = 220,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_SERVER,
	.fault = true,
	.may_lose = true,
	.long_lease = true,
	.run = run_server_restarted,
};
