/* SPDX-License-Identifier: Apache-2.0 */
/* Holders and servers that stop or die. */
#include "lab/scenarios/scene.h"

#include <stdio.h>

#define MOST 10

/* The conform case: death_of_holder. */
void lab_run_holder_killed(struct lab_trial *t)
{
	size_t n = (size_t)lab_of(t, 2, 5);
	double ms[MOST];
	size_t i;

	for (i = 0; i < n && !t->failed && !t->broken; i++) {
		struct lab_scene s;

		lab_scene(t, &s, 0);
		lab_fault_begins(t, "the holder is killed");
		lab_worker_kill(s.a);
		ms[i] = lab_scene_inherit(
			t, &s, t->fault_from,
			t->sut->foreign ? LAB_LONG_MS : lab_free_bound_ms(t));
		lab_leave(s.b);
	}
	if (!t->broken)
		lab_measured_all(t, "recover-kill",
				 "free again after its holder was killed", "ms",
				 ms, i, -1, "");
}

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

/* The conform case: pause_of_holder. */
void lab_run_holder_paused(struct lab_trial *t)
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

/* Measure how soon a client from before the restart can lock again, another
 * lock. */
static void recover(struct lab_trial *t, struct lab_worker *c)
{
	struct lab_order e = { .verb = LAB_DO_ACQUIRE,
			       .timeout_ms = LAB_LONG_MS / 2 };
	struct lab_reply r;

	snprintf(e.name, sizeof(e.name), "%.30s-2", t->name);
	r = lab_do(c, &e);
	lab_expect(t, r.rc == DLOCK_OK, "after the restart: %s", r.text);
	lab_measured(t, "recover-restart",
		     "a client can lock again after the server was restarted",
		     "ms", false, (double)(r.ended - t->fault_from) / 1e6);
	lab_give(c);
}

/* An ensemble promises clients 7/12 of the lease, less a request. */
static bool took_too_long(const struct lab_trial *t)
{
	return (t->fault_to - t->fault_from) / LAB_MS > t->ttl_ms / 2;
}

void lab_run_server_restarted(struct lab_trial *t)
{
	bool lasts = t->sut->caps & DLOCK_CAP_DURABLE;
	struct lab_worker *c = lab_join(t, "C: of another lock", 0);
	struct lab_scene s;
	int rc;

	lab_scene(t, &s, 0);
	lab_fault_begins(t, "the server is killed and started again");
	lab_must(t, lab_sut_kill(t->sut));
	lab_must(t, lab_sut_restart(t->sut));
	lab_fault_ends(t);
	if (!lasts)
		lab_history_wiped(t->history, "", t->fault_from, true);
	recover(t, c);
	if (!lasts) {
		lab_scene_inherit(t, &s, t->fault_from, LAB_LONG_MS / 2);
		/* A may take so long to find out. */
		lab_wait(t, lab_found_bound_ms(t));
	}
	rc = lab_scene_end(t, &s);
	if (lasts && rc == DLOCK_ELOST && took_too_long(t))
		lab_trial_fail(t, "the restart took longer than the lease");
	lab_expect(t, rc != DLOCK_ELOST || !lasts,
		   "declares DURABLE, and a hold was lost by a restart");
	if (lasts)
		lab_scene_inherit(t, &s, t->fault_from, LAB_LONG_MS / 2);
}

void lab_run_server_paused(struct lab_trial *t)
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
