/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios that measure, without a fault. */
#include "lab/scenarios/scene.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 400

/* Have two workers pass the lock: one waits when the other releases.  The
 * conform case: wake_by_release. */
void lab_run_hand_off(struct lab_trial *t)
{
	struct lab_worker *p[2] = { lab_join(t, "A", 0), lab_join(t, "B", 0) };
	size_t n = (size_t)lab_of(t, 30, 200);
	double floor_us = lab_sut_floor_us(t->sut);
	double given[MOST], woken[MOST];
	size_t i;

	lab_take(p[0], LAB_LONG_MS);
	for (i = 0; i < n && !t->failed && !t->broken; i++) {
		struct lab_worker *from = p[i % 2];
		struct lab_worker *to = p[(i + 1) % 2];
		struct lab_reply r, got;

		lab_tell_take(to, LAB_LONG_MS);
		lab_await_waiting(to);
		r = lab_give(from);
		got = lab_hear(to, LAB_LONG_MS);
		lab_expect(t, got.rc == DLOCK_OK, "the waiter: %s", got.text);
		given[i] = (double)(got.ended - r.begun) / 1e3;
		woken[i] = (double)(got.ended - r.ended) / 1e3;
		if (woken[i] < 0)
			woken[i] = 0;
	}
	if (t->failed || t->broken)
		return;
	lab_give(p[i % 2]);
	lab_measured_all(t, "hand-off", "hand-off: release called to granted",
			 "us", given, i, floor_us, "one bare round trip");
	lab_measured_all(t, "wake-up", "wake-up: release returned to granted",
			 "us", woken, i, -1, "");
}

/* The conform case: wake_costs_little. */
void lab_run_waiting_cost(struct lab_trial *t)
{
	struct lab_scene s;
	struct lab_reply before, after;
	int64_t ms = lab_of(t, 1000, 3000);
	/* A look now and then, in case a wake was lost, is no polling. */
	int64_t least = 1 + (t->ttl_ms ? 4 * ms / t->ttl_ms : ms / 500);
	uint64_t asked;

	lab_scene(t, &s, 0);
	before = lab_stats(s.b);
	lab_busy(s.b, ms);
	after = lab_stats(s.b);
	asked = after.attempts - before.attempts;
	lab_give(s.a);
	lab_scene_inherit(t, &s, lab_now(), LAB_LONG_MS);
	lab_measured(t, "waiting", "requests per waiter and second", "1/s",
		     false, (double)asked * 1000 / (double)ms);
	if (t->sut->caps & DLOCK_CAP_WAKE)
		lab_expect(t, asked <= (uint64_t)least,
			   "declares WAKE, and a waiter asked %d times in %d "
			   "ms",
			   (int)asked, (int)ms);
	else
		lab_remark(t, "not declared; a waiter asked %d times in %d ms",
			   (int)asked, (int)ms);
}

void lab_run_pair(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_order e = { .verb = LAB_DO_PAIRS,
			       .run_ms = lab_of(t, 500, 3000),
			       .count = 50,
			       .other = "pairs" };
	double floor_us = lab_sut_floor_us(t->sut);
	struct lab_reply r;
	double *us;
	size_t n;

	snprintf(e.name, sizeof(e.name), "%s", t->name);
	lab_tell(a, &e);
	r = lab_hear(a, LAB_LONG_MS);
	lab_expect(t, r.rc == DLOCK_OK, "%s", r.text);
	us = t->broken ? NULL : lab_samples(t, e.other, &n);
	if (us)
		lab_measured_all(t, "pair", "acquire + release, nobody else",
				 "us", us, n, floor_us < 0 ? -1 : 2 * floor_us,
				 "two bare round trips");
	free(us);
}

/* The conform case: leftover_waits. */
void lab_run_left_behind(struct lab_trial *t)
{
	int64_t before, after, bytes, more;
	struct lab_scene s;
	struct lab_reply r;

	lab_leave(lab_join(t, "first", 0)); /* the store's own things */
	before = t->sut->kind->left(t->sut, &bytes);
	lab_scene(t, &s, 0);
	lab_give(s.a);
	lab_scene_inherit(t, &s, lab_now(), LAB_LONG_MS);
	lab_take(s.a, LAB_LONG_MS);
	lab_tell_take(s.b, 100);
	r = lab_hear(s.b, LAB_LONG_MS);
	lab_expect(t, r.rc == DLOCK_EBUSY, "a held lock was not busy");
	lab_give(s.a);
	lab_leave(s.a);
	lab_leave(s.b);
	after = t->sut->kind->left(t->sut, &more);
	lab_measured(t, "left", "things left in the server for one name", "",
		     false, (double)(after - before));
	if (bytes >= 0 && more >= 0)
		lab_measured(t, "left-bytes",
			     "bytes left in the server for one name", "bytes",
			     false, (double)(more - bytes));
	lab_expect(t, after - before <= t->sut->kind->stays,
		   "%d things were left in the server, and %d may: %s",
		   (int)(after - before), t->sut->kind->stays,
		   t->sut->kind->what_stays);
	if (after > before)
		lab_remark(t, "what is left: %s", t->sut->kind->what_stays);
}
