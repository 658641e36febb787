/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_server_paused(struct lab_trial *t)
{
	struct lab_scene s;
	int rc;

	lab_scene(t, &s, 0);
	lab_fault_begins(t, "the server is stopped (SIGSTOP)");
	lab_must(t, lab_sut_pause(t->sut));
	lab_busy(s.b, t->ttl_ms * 2);
	lab_must(t, lab_sut_resume(t->sut));
	lab_fault_ends(t);
	rc = lab_scene_end(t, &s);
	lab_expect(t, rc == DLOCK_ELOST || t->failed,
		   "the lease ran out while the server was silent, and A was "
		   "not told");
	lab_scene_inherit(t, &s, t->fault_to, LAB_LONG_MS / 2);
}

const struct lab_scenario lab_scenario_server_paused = {
	.id = "server-paused",
	.title = "server paused",
	.guarantee =
		"LOST by the end of the lease although the server is silent",
	.place = 230,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_SERVER | LAB_NEEDS_LEASE,
	.fault = true,
	.run = run_server_paused,
};
