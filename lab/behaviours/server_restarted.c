/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scene.h"

static void run(struct lab_trial *t)
{
	bool lasts = t->subject->caps & DLOCK_CAP_DURABLE;
	struct lab_scene s;
	int64_t begun;

	lab_scene(t, &s, 0);
	begun = lab_now();
	lab_fault_begins(t, "the server is killed and started again");
	lab_must(t, lab_subject_kill(t->subject));
	lab_must(t, lab_subject_restart(t->subject));
	lab_fault_ends(t);
	if (!lasts) {
		lab_history_wiped(t->history, "", begun, true);
		lab_scene_inherit(t, &s, begun, LAB_LONG_MS / 2);
		/* The longest that it may take A to find out. */
		lab_wait(t, lab_found_bound_ms(t));
	} else {
		lab_wait(t, t->ttl_ms / 2);
	}
	lab_expect(t, lab_scene_end(t, &s) == DLOCK_OK || !lasts,
		   "declares DURABLE, and a hold was lost by a restart");
	if (lasts)
		lab_scene_inherit(t, &s, begun, LAB_LONG_MS / 2);
	lab_measured(t, "recover-restart",
		     "granted again after the server was restarted", "ms",
		     false, (double)(s.got.ended - begun) / 1e6);
}

const struct lab_behaviour lab_behaviour_server_restarted = {
	.id = "server-restarted",
	.title = "server restarted",
	.guarantee =
		"a hold survives, or its loss is found within a third of the lease",
	.place = 220,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_SERVER,
	.fault = true,
	.may_lose = true,
	.run = run,
};
