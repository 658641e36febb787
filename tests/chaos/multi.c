/* SPDX-License-Identifier: Apache-2.0 */
/* A multi-lock of two or three of the locks.  For the history these are holds
 * of the members, begun together. */
#include "chaos/mix.h"

#define MEMBERS 3

static const struct member {
	int name;
	enum lab_mode mode;
} members[MEMBERS] = {
	{ CHAOS_TWO, LAB_MUTEX },
	{ CHAOS_SEATS, LAB_PERMIT },
	{ CHAOS_PAGE, LAB_WRITE },
};

static int make_multi(struct chaos_thread *me, int first, int n,
		      dlock_lock **out)
{
	dlock_lock *each[MEMBERS] = { NULL };
	int rc = DLOCK_OK;

	for (int i = 0; i < n && rc == DLOCK_OK; i++) {
		const struct member *m = &members[(first + i) % MEMBERS];

		rc = chaos_make_handle(me->w->client, m->name, m->mode,
				       &each[i]);
	}
	if (rc == DLOCK_OK)
		rc = dlock_multi_new(out, each, (size_t)n);
	for (int i = 0; i < n; i++)
		dlock_lock_free(each[i]);
	return rc;
}

static void use(struct chaos_thread *me, dlock_lock *all, int64_t wait,
		struct chaos_held *h, int n)
{
	dlock_hold *hold = NULL;
	int rc = dlock_acquire(all, wait, &hold);

	for (int i = 0; i < n; i++)
		chaos_answered(&h[i], rc,
			       hold ? dlock_member(hold, (size_t)i) : NULL);
	if (!chaos_usual(rc) && rc != DLOCK_ELOST) /* a member was lost */
		chaos_odd(h, "acquire of a multi-lock", rc);
	if (rc != DLOCK_OK)
		return;
	chaos_did(me, CHAOS_MULTI);
	chaos_work(h, n, chaos_draw_work(me));
	chaos_give(h, n, hold);
}

void chaos_use_multi(struct chaos_thread *me)
{
	int first = (int)chaos_between(&me->random, 0, MEMBERS - 1);
	int n = (int)chaos_between(&me->random, 2, MEMBERS);
	struct chaos_held h[MEMBERS];
	dlock_lock *all;
	int64_t wait = chaos_draw_wait(me);
	int rc = make_multi(me, first, n, &all);

	for (int i = 0; i < n; i++) {
		const struct member *m = &members[(first + i) % MEMBERS];

		h[i] = chaos_held(me, m->name, m->mode != LAB_PERMIT);
		if (rc == DLOCK_OK)
			h[i].op = lab_holds_acquire(&me->w->holds, h[i].name,
						    m->mode,
						    chaos_names[m->name].limit,
						    wait);
	}
	if (rc != DLOCK_OK) {
		chaos_odd(h, "a multi-lock", rc);
		return;
	}
	use(me, all, wait, h, n);
	dlock_lock_free(all);
}
