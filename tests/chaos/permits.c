/* SPDX-License-Identifier: Apache-2.0 */
/* Several permits of a semaphore at once. */
#include "chaos/mix.h"

void chaos_use_permits(struct chaos_thread *me)
{
	unsigned limit = chaos_names[CHAOS_SEATS].limit;
	struct chaos_held h = chaos_held(me, CHAOS_SEATS, 0);
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *hold = NULL;
	dlock_lock *lock;
	int rc = chaos_make_handle(me->w->client, CHAOS_SEATS, LAB_PERMIT,
				   &lock);

	if (rc != DLOCK_OK) {
		chaos_odd(&h, "a handle", rc);
		return;
	}
	o.permits = (uint32_t)chaos_between(&me->random, 2, limit);
	o.timeout_ms = chaos_draw_wait(me);
	h.op = lab_holds_permits(&me->w->holds, h.name, limit, o.permits,
				 o.timeout_ms);
	rc = dlock_acquire_opts(lock, &o, &hold);
	chaos_answered(&h, rc, hold);
	if (!chaos_usual(rc))
		chaos_odd(&h, "acquire of several", rc);
	if (rc == DLOCK_OK) {
		chaos_did(me, CHAOS_PERMITS);
		if (dlock_caps(me->w->client) & DLOCK_CAP_REVOKE_PERMITS &&
		    chaos_chance(&me->random, 50))
			chaos_yield(me, &h);
		else
			chaos_work(&h, 1, chaos_draw_work(me));
		chaos_give(&h, 1, hold);
	}
	dlock_lock_free(lock);
}
