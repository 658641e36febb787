/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#define SLOW_MS 100

/* Delay answers before the cut: a lease counted from the answer, not from the
 * request, then reaches into the next hold. */
static void run_network_cut(struct lab_trial *t)
{
	struct lab_scene s;

	for (size_t i = 0; i < t->sut->n_nodes; i++)
		lab_proxy_delay(t->sut->proxies[i], LAB_DOWN, SLOW_MS);
	lab_scene(t, &s, LAB_JOIN_PROXIED);
	lab_fault_begins(t, "the network of the holder is cut");
	lab_hole(t, LAB_UP, true);
	lab_hole(t, LAB_DOWN, true);
	lab_measured(
		t, "recover-cut",
		"granted to another after the holder was cut off", "ms", false,
		lab_scene_inherit(t, &s, t->fault_from, lab_free_bound_ms(t)));
	lab_hole(t, LAB_UP, false);
	lab_hole(t, LAB_DOWN, false);
	lab_fault_ends(t);
	lab_expect(t, lab_scene_end(t, &s) == DLOCK_ELOST || t->failed,
		   "A was cut off past its lease, and was not told");
}

const struct lab_scenario lab_scenario_network_cut = {
	.id = "network-cut",
	.title = "network cut",
	.guarantee = "LOST comes before another can be granted the lock",
	.place = 240,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_PROXY | LAB_NEEDS_LEASE,
	.fault = true,
	.run = run_network_cut,
};
