/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"
#include "lab/base/fail.h"

#include <inttypes.h>
#include <stdio.h>

#define HOLD_US 300
#define HOLD_MS 50
#define IMPATIENT_MS 5 /* of every second worker, which then often gives up */
#define MOST_PARTICIPANTS 8

static const char *const names[MOST_PARTICIPANTS] = { "A", "B", "C", "D",
						      "E", "F", "G", "H" };

void lab_scene(struct lab_trial *t, struct lab_scene *s, int how_a)
{
	struct lab_reply r;

	s->a = lab_join(t, "A: holder", how_a);
	s->b = lab_join(t, "B: waiter", 0);
	r = lab_take(s->a, LAB_LONG_MS / 4);
	lab_expect(t, r.rc == DLOCK_OK, "a free lock was not granted: %s",
		   r.text);
	lab_tell_take(s->b, LAB_LONG_MS);
	lab_await_waiting(s->b);
	lab_expect(t, lab_busy(s->b, 20) || t->failed,
		   "B was granted the lock, or given up, while A held it");
}

double lab_scene_inherit(struct lab_trial *t, struct lab_scene *s,
			 int64_t since, int64_t bound_ms)
{
	double took;

	s->got = lab_hear(s->b, bound_ms);
	took = (double)(s->got.ended - since) / 1e6;
	lab_expect(t, s->got.rc != LAB_NO_REPLY,
		   "B was not granted the lock within %" PRId64 " ms",
		   bound_ms);
	lab_expect(t, s->got.rc == DLOCK_OK,
		   "B was not granted the lock, but told: %s", s->got.text);
	if (s->got.rc == DLOCK_OK) {
		/* Hold long enough for an overlap to show, if A still believes
		 * to hold. */
		if (t->scenario->fault)
			lab_wait(t, HOLD_MS);
		lab_give(s->b);
	}
	return took;
}

int lab_scene_end(struct lab_trial *t, struct lab_scene *s)
{
	struct lab_reply r = lab_give(s->a);

	if (r.rc == DLOCK_ELOST && t->scenario->may_lose)
		t->lost_declared = true;
	lab_expect(t, r.rc != LAB_NO_REPLY, "the release did not return");
	return r.rc;
}

void lab_scene_free(struct lab_trial *t, struct lab_worker *p,
		    const char *otherwise)
{
	struct lab_reply r = lab_take(p, 0);

	lab_expect(t, r.rc != DLOCK_EBUSY, "%s", otherwise);
	lab_expect(t, r.rc == DLOCK_OK, "a free lock was not granted: %s",
		   r.text);
	if (r.rc == DLOCK_OK)
		lab_give(p);
}

int64_t lab_crowd(struct lab_trial *t, const enum lab_mode modes[], size_t n,
		  uint32_t limit, int how, int64_t run_ms)
{
	struct lab_worker *p[MOST_PARTICIPANTS];
	int64_t granted = 0;

	for (size_t i = 0; i < n; i++)
		p[i] = lab_join(t, names[i], how);
	for (size_t i = 0; i < n && !t->failed; i++) {
		struct lab_order e = { .verb = LAB_DO_LOOP,
				       .mode = modes[i],
				       .limit = limit,
				       .timeout_ms = i % 2 ? IMPATIENT_MS :
							     LAB_LONG_MS,
				       .run_ms = run_ms,
				       .hold_us = HOLD_US };

		snprintf(e.name, sizeof(e.name), "%s", t->name);
		lab_tell(p[i], &e);
	}
	for (size_t i = 0; i < n; i++) {
		struct lab_reply r = lab_hear(p[i], LAB_LONG_MS);

		lab_expect(t, r.rc == DLOCK_OK, "%s: %s", names[i], r.text);
		lab_expect(t, r.count > 0 || i % 2,
			   "%s, who has patience, never got it", names[i]);
		granted += r.count;
	}
	return granted;
}

void lab_hole(struct lab_trial *t, enum lab_way way, bool on)
{
	for (size_t i = 0; i < t->sut->n_nodes; i++)
		lab_proxy_hole(t->sut->proxies[i], way, on);
}

void lab_must(struct lab_trial *t, int rc)
{
	if (rc < 0)
		lab_trial_fail(t, "%s", lab_errmsg());
}
