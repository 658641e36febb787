/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_network_slow(struct lab_trial *t)
{
	static const enum lab_mode modes[3] = { LAB_MUTEX, LAB_MUTEX,
						LAB_MUTEX };

	lab_fault_begins(t, "every message takes 20 ms");
	for (size_t i = 0; i < t->sut->n_nodes; i++) {
		lab_proxy_delay(t->sut->proxies[i], LAB_UP, 20);
		lab_proxy_delay(t->sut->proxies[i], LAB_DOWN, 20);
	}
	lab_crowd(t, modes, 3, 0, LAB_JOIN_PROXIED, lab_of(t, 2000, 4000));
	lab_fault_ends(t);
}

const struct lab_scenario lab_scenario_network_slow = {
	.id = "network-slow",
	.title = "network slow",
	.guarantee = "slow is not lost: exclusion and progress as ever",
	.place = 250,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_PROXY,
	.fault = true,
	.run = run_network_slow,
};
