/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that forget, or run out of memory, or leap in time. */
#include "lab/scenarios/scene.h"

#define HOUR_MS 3600000

void lab_run_server_flushed(struct lab_trial *t)
{
	struct lab_scene s;

	lab_scene(t, &s, 0);
	lab_fault_begins(t, "the server is told to forget everything");
	lab_must(t, t->sut->kind->flush(t->sut));
	lab_fault_ends(t);
	lab_history_wiped(t->history, "", t->fault_from, true);
	lab_scene_inherit(t, &s, t->fault_from, LAB_LONG_MS / 2);
	lab_wait(t, lab_found_bound_ms(t));
	lab_scene_end(t, &s);
}

void lab_run_server_full(struct lab_trial *t)
{
	bool lasts = t->sut->caps & DLOCK_CAP_DURABLE;
	struct lab_scene s;
	struct lab_reply r;
	int rc;

	lab_scene(t, &s, 0);
	lab_fault_begins(t, "the server's memory is filled");
	lab_must(t, t->sut->kind->fill(t->sut));
	/* The server may have evicted the claim, or not. */
	if (!lasts)
		lab_history_wiped(t->history, "", t->fault_from, false);
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

void lab_run_clock_stepped(struct lab_trial *t)
{
	struct lab_scene s;
	int rc;

	lab_scene(t, &s, 0);
	lab_fault_begins(t, "the server's clock is set ahead by an hour");
	lab_must(t, lab_sut_step_wall(t->sut, HOUR_MS));
	/* Leases by the stepped clock have expired. */
	lab_history_wiped(t->history, "", t->fault_from, false);
	lab_wait(t, lab_found_bound_ms(t));
	rc = lab_scene_end(t, &s);
	lab_must(t, lab_sut_step_wall(t->sut, 0));
	lab_fault_ends(t);
	lab_scene_inherit(t, &s, t->fault_to, LAB_LONG_MS / 2);
	lab_remark(t, "the hold was %s",
		   rc == DLOCK_ELOST ? "lost, and its holder told" : "kept");
}
