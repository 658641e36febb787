/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/held.h"

#include <stdio.h>

#include "lab/base/clock.h"

struct chaos_held chaos_held(struct chaos_thread *me, int i, int alone)
{
	struct chaos_held h = { .me = me, .name = chaos_names[i].name };

	if (alone)
		h.guarded = me->w->guarded[i];
	return h;
}

void chaos_did(struct chaos_thread *me, enum chaos_feature feature)
{
	atomic_fetch_add(&me->w->counters->feature[feature], 1);
}

void chaos_odd(const struct chaos_held *h, const char *call, int rc)
{
	struct chaos_counters *counters = h->me->w->counters;

	if (atomic_fetch_add(&counters->unexpected, 1) == 0)
		snprintf(counters->unexpected_text,
			 sizeof(counters->unexpected_text), "%s of %s: %s: %s",
			 call, h->name, dlock_errname(rc),
			 rc < 0 ? dlock_errmsg() : "");
	lab_history_note(h->me->w->history, "unexpected: %s: %s", call,
			 dlock_errname(rc));
}

int chaos_usual(int rc)
{
	return rc == DLOCK_OK || rc == DLOCK_EBUSY || rc == DLOCK_EUNREACHABLE;
}

void chaos_answered(struct chaos_held *h, int rc, dlock_hold *hold)
{
	struct chaos_worker *w = h->me->w;

	h->hold = hold;
	h->token = hold ? dlock_token(hold) : 0;
	lab_holds_acquired(&w->holds, h->op, rc, hold, h->token);
	if (rc == DLOCK_OK)
		atomic_fetch_add(&w->counters->granted, 1);
}

void chaos_write(struct chaos_held *h)
{
	struct chaos_counters *p = h->me->w->counters;
	struct lab_written w;

	if (!h->guarded || lab_resource_write(h->guarded, h->token, &w) < 0)
		return;
	lab_history_wrote(h->me->w->history, h->op, h->name, h->token, &w);
	atomic_fetch_add(w.accepted ? &p->accepted : &p->refused, 1);
}

void chaos_check(struct chaos_held *h)
{
	int64_t asked = lab_now();
	int rc = dlock_check(h->hold);

	lab_history_checked(h->me->w->history, h->op, asked, rc);
	if (rc == DLOCK_ELOST)
		h->lost = 1;
	else if (rc != DLOCK_OK)
		chaos_odd(h, "check", rc);
}

void chaos_work(struct chaos_held *h, int n, int64_t ms)
{
	int64_t end = lab_after_ms(ms);
	int lost = 0;

	do {
		for (int i = 0; i < n; i++) {
			chaos_check(&h[i]);
			chaos_write(&h[i]);
			lost |= h[i].lost;
		}
		lab_nap_ms(chaos_between(&h->me->random, 0, 6));
	} while (!lost && lab_now() < end);
}

int chaos_give(struct chaos_held *h, int n, dlock_hold *hold)
{
	struct lab_holds *holds = &h->me->w->holds;
	int rc;

	for (int i = 0; i < n; i++)
		lab_holds_release(holds, h[i].op);
	rc = dlock_release(hold);
	for (int i = 0; i < n; i++)
		lab_holds_released(holds, h[i].op, rc);
	if (rc != DLOCK_OK && rc != DLOCK_ELOST && rc != DLOCK_EUNREACHABLE)
		chaos_odd(h, "release", rc);
	return rc;
}
