/* SPDX-License-Identifier: Apache-2.0 */
/* Holds with terms: a shorter lease, and a moving end. */
#include "chaos/mix.h"

enum chaos_feature chaos_draw_terms(struct chaos_thread *me, int64_t kind,
				    dlock_acquire_options *o)
{
	int64_t ttl = me->w->job->ttl_ms;
	int64_t lease_ms = dlock_ttl_ms(me->w->client);

	if (kind == 0 && lease_ms > 0) {
		o->lease_ms = chaos_between(&me->random, lease_ms / 3,
					    lease_ms);
		return CHAOS_LEASE;
	}
	if (kind == 1) {
		o->lease_ms = chaos_between(&me->random, ttl / 3, 2 * ttl);
		o->no_renew = 1;
		return CHAOS_ONE_LEASE;
	}
	o->max_hold_ms = chaos_between(&me->random, ttl / 8, 2 * ttl);
	return CHAOS_END;
}

/* Never to an earlier moment than the noted end of the promise. */
static void extend(struct chaos_thread *me, struct chaos_held *h)
{
	int64_t more = chaos_between(&me->random, 1, me->w->job->ttl_ms);
	int rc = dlock_extend(h->hold, dlock_remaining_ms(h->hold) + more);

	if (rc == DLOCK_OK) {
		lab_holds_watch(&me->w->holds);
		chaos_did(me, CHAOS_EXTEND);
	} else if (rc != DLOCK_ELOST) {
		chaos_odd(h, "extend", rc);
	}
}

void chaos_use_terms(struct chaos_thread *me)
{
	int name = chaos_chance(&me->random, 50) ? CHAOS_ONE : CHAOS_TWO;
	struct chaos_held h = chaos_held(me, name, 1);
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	int64_t kind = chaos_between(&me->random, 0, CHAOS_TERMS - 1);
	enum chaos_feature feature = chaos_draw_terms(me, kind, &o);
	dlock_hold *hold = NULL;
	int rc;

	o.timeout_ms = chaos_draw_wait(me);
	h.op = lab_holds_acquire(&me->w->holds, h.name, LAB_MUTEX, 0,
				 o.timeout_ms);
	rc = dlock_acquire_opts(me->own[name], &o, &hold);
	chaos_answered(&h, rc, hold);
	if (!chaos_usual(rc))
		chaos_odd(&h, "acquire with terms", rc);
	if (rc != DLOCK_OK)
		return;
	chaos_did(me, feature);
	chaos_work(&h, 1, chaos_draw_work(me));
	if (feature != CHAOS_LEASE)
		extend(me, &h);
	chaos_work(&h, 1, chaos_draw_work(me));
	chaos_give(&h, 1, hold);
}
