/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

/* Requests arrive, renewals too: the store may think that A is well. */
static void run_network_one_way(struct lab_trial *t)
{
	struct lab_scene s;

	lab_scene(t, &s, LAB_JOIN_PROXIED);
	lab_fault_begins(t, "what the server sends to the holder is lost");
	lab_hole(t, LAB_DOWN, true);
	lab_busy(s.b, t->ttl_ms * 3 / 2);
	lab_hole(t, LAB_DOWN, false);
	lab_fault_ends(t);
	lab_expect(t, lab_scene_end(t, &s) == DLOCK_ELOST || t->failed,
		   "A heard nothing past its lease, and was not told");
	lab_scene_inherit(t, &s, t->fault_to, lab_free_bound_ms(t));
}

const struct lab_scenario lab_scenario_network_one_way = {
	.id = "network-one-way",
	.title = "network cut one way",
	.guarantee = "silence is no yes: LOST by the end of the lease",
	.place = 260,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_PROXY | LAB_NEEDS_LEASE,
	.fault = true,
	.run = run_network_one_way,
};
