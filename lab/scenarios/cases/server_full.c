/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

static void run_server_full(struct lab_trial *t)
{
	bool lasts = t->sut->caps & DLOCK_CAP_DURABLE;
	struct lab_scene s;
	struct lab_reply r;
	int64_t begun;
	int rc;

	lab_scene(t, &s, 0);
	begun = lab_now();
	lab_fault_begins(t, "the server's memory is filled");
	lab_must(t, t->sut->kind->fill(t->sut));
	/* The server may have evicted the claim, or not. */
	if (!lasts)
		lab_history_wiped(t->history, "", begun, false);
	lab_wait(t, t->ttl_ms);
	rc = lab_scene_end(t, &s);
	r = lab_hear(s.b, t->ttl_ms + 5000);
	lab_must(t, t->sut->kind->flush(t->sut));
	lab_fault_ends(t);
	if (r.rc == DLOCK_OK)
		lab_give(s.b);
	lab_expect(t,
		   r.rc == DLOCK_OK || r.rc == DLOCK_EEXHAUSTED ||
			   r.rc == DLOCK_EUNREACHABLE,
		   "B, while memory was full: %s", r.text);
	lab_remark(t, "the hold was %s; the waiter was %s%s",
		   rc == DLOCK_ELOST ? "lost" : "kept",
		   r.rc == DLOCK_OK ? "granted it" : "refused: ",
		   r.rc == DLOCK_OK ? "" : r.text);
}

const struct lab_scenario lab_scenario_server_full = {
	.id = "server-full",
	.title = "server's memory full",
	.guarantee =
		"holds are kept, or their loss is found; errors say what it is",
	.place = 290,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_FILL | LAB_NEEDS_FLUSH |
		 LAB_NEEDS_SERVER,
	.fault = true,
	.may_lose = true,
	.run = run_server_full,
};
