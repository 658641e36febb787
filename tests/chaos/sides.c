/* SPDX-License-Identifier: Apache-2.0 */
/* Holders of both sides of a read-write lock: a reader upgrades, and a writer
 * becomes a reader. */
#include "chaos/mix.h"

enum { READER, SECOND, MEMBERS }; /* of an upgradeable hold */

struct upgradeable {
	dlock_lock *lock;
	dlock_hold *hold;
	struct chaos_held member[MEMBERS];
};

static void upgrade(struct chaos_thread *me, struct upgradeable *u)
{
	struct chaos_held w = chaos_held(me, CHAOS_BOOK, 1);
	int64_t wait = chaos_draw_wait(me);
	dlock_hold *hold = NULL;
	int rc;

	w.op = lab_holds_beside(&me->w->holds, w.name, LAB_WRITE,
				u->member[READER].op, wait);
	rc = dlock_upgrade(u->lock, u->hold, wait, &hold);
	chaos_answered(&w, rc, hold);
	if (rc == DLOCK_OK) {
		chaos_did(me, CHAOS_UPGRADE);
		chaos_work(&w, 1, chaos_draw_work(me));
		chaos_give(&w, 1, hold);
	} else if (!chaos_usual(rc) && rc != DLOCK_ELOST) {
		chaos_odd(&w, "upgrade", rc);
	}
}

static int acquire_upgradeable(struct chaos_thread *me, struct upgradeable *u)
{
	struct lab_holds *holds = &me->w->holds;
	int64_t wait = chaos_draw_wait(me);
	int rc;

	u->member[READER].op = lab_holds_acquire(holds, u->member[READER].name,
						 LAB_READ, 0, wait);
	u->member[SECOND].op = lab_holds_acquire(holds, u->member[SECOND].name,
						 LAB_MUTEX, 0, wait);
	rc = dlock_acquire(u->lock, wait, &u->hold);
	for (size_t i = 0; i < MEMBERS; i++)
		chaos_answered(&u->member[i], rc,
			       u->hold ? dlock_member(u->hold, i) : NULL);
	if (!chaos_usual(rc) && rc != DLOCK_ELOST) /* a member was lost */
		chaos_odd(&u->member[READER], "acquire, upgradeable", rc);
	return rc;
}

void chaos_use_upgradeable(struct chaos_thread *me)
{
	struct upgradeable u = { .hold = NULL };
	dlock_lock *rwlock;
	int rc = chaos_make_handle(me->w->client, CHAOS_BOOK, LAB_WRITE,
				   &rwlock);

	u.member[READER] = chaos_held(me, CHAOS_BOOK, 0);
	u.member[SECOND] = (struct chaos_held){ .me = me,
						.name = "%u:chaos/book" };
	if (rc == DLOCK_OK) {
		rc = dlock_upgradeable_new(&u.lock, rwlock);
		dlock_lock_free(rwlock);
	}
	if (rc != DLOCK_OK) {
		chaos_odd(&u.member[READER], "an upgradeable handle", rc);
		return;
	}
	if (acquire_upgradeable(me, &u) == DLOCK_OK) {
		chaos_did(me, CHAOS_UPGRADEABLE);
		chaos_work(u.member, MEMBERS, chaos_draw_work(me));
		for (int64_t n = chaos_between(&me->random, 1, 2); n > 0; n--)
			upgrade(me, &u);
		chaos_give(u.member, MEMBERS, u.hold);
	}
	dlock_lock_free(u.lock);
}

/* Take the read side, and leave the sides in either order. */
static void downgrade(struct chaos_thread *me, dlock_lock *lock,
		      struct chaos_held *w)
{
	struct chaos_held r = chaos_held(me, CHAOS_BOOK, 0);
	int64_t wait = chaos_draw_wait(me);
	dlock_hold *hold = NULL;
	int rc;

	r.op = lab_holds_beside(&me->w->holds, r.name, LAB_READ, w->op, wait);
	rc = dlock_acquire_shared(lock, wait, &hold);
	chaos_answered(&r, rc, hold);
	if (rc != DLOCK_OK && rc != DLOCK_ELOST)
		chaos_odd(&r, "acquire of the read side as well", rc);
	if (rc == DLOCK_OK && chaos_chance(&me->random, 20)) {
		chaos_work(&r, 1, chaos_draw_work(me));
		chaos_give(&r, 1, hold);
		rc = DLOCK_ELOST;
	}
	chaos_give(w, 1, w->hold);
	if (rc != DLOCK_OK)
		return;
	chaos_did(me, CHAOS_DOWNGRADE);
	chaos_work(&r, 1, chaos_draw_work(me));
	chaos_give(&r, 1, hold);
}

void chaos_use_downgrade(struct chaos_thread *me)
{
	struct chaos_held w = chaos_held(me, CHAOS_BOOK, 1);
	int64_t wait = chaos_draw_wait(me);
	dlock_hold *hold = NULL;
	dlock_lock *lock;
	int rc = chaos_make_handle(me->w->client, CHAOS_BOOK, LAB_WRITE, &lock);

	if (rc != DLOCK_OK) {
		chaos_odd(&w, "a handle", rc);
		return;
	}
	w.op = lab_holds_acquire(&me->w->holds, w.name, LAB_WRITE, 0, wait);
	rc = dlock_acquire(lock, wait, &hold);
	chaos_answered(&w, rc, hold);
	if (!chaos_usual(rc))
		chaos_odd(&w, "acquire of the write side", rc);
	if (rc == DLOCK_OK) {
		chaos_work(&w, 1, chaos_draw_work(me));
		downgrade(me, lock, &w);
	}
	dlock_lock_free(lock);
}
