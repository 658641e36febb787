/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/use.h"

#include "sim/process/sched.h"

size_t sim_caller_draw(struct sim_caller *me, const char *site, size_t n)
{
	return (size_t)sim_draw(me->play->chance, site, n);
}

void sim_nap(int64_t ns)
{
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + ns);
}

void sim_unexpected(const char *call, int rc)
{
	sim_sched_fail("%s returned %d: %s", call, rc, dlock_errmsg());
}

int sim_may_end(const struct sim_play *p, int rc, int64_t timeout_ms)
{
	switch (rc) {
	case DLOCK_OK:
		return 1;
	case DLOCK_EBUSY:
		return timeout_ms >= 0;
	case DLOCK_ECANCELED:
		return p->may_cancel || p->close_has_begun;
	case DLOCK_EUNREACHABLE:
		return p->may_fail && timeout_ms >= 0;
	case DLOCK_ELOST:
		return p->may_lose;
	default:
		return 0;
	}
}

void sim_use_once(dlock_lock *lock)
{
	dlock_hold *h;
	int rc = dlock_acquire(lock, 0, &h);

	if (rc != DLOCK_OK)
		sim_unexpected("dlock_acquire", rc);
	rc = dlock_release(h);
	if (rc != DLOCK_OK)
		sim_unexpected("dlock_release", rc);
}

/* Is the hold valid?  The event of a loss comes soon. */
static int look_at(struct sim_use *u)
{
	int rc = dlock_check(u->hold);

	if (rc == DLOCK_OK)
		return 1;
	if (rc != DLOCK_ELOST)
		sim_unexpected("dlock_check", rc);
	sim_judge_lost(u->hold);
	sim_nap(u->by->play->told_ns);
	if (!u->by->play->close_has_begun) /* and ends all events */
		sim_judge_told(u->hold);
	return 0;
}

void sim_use_release(struct sim_use *u, dlock_hold *hold)
{
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc;

	sim_judge_releasing(u->hold, u->owner);
	rc = dlock_release(hold);
	sim_judge_released(u->name, rc);
	sim_judge_returned("a release", begun, stalled, 0);
}

void sim_use_for_a_while(struct sim_use *u)
{
	for (size_t n = sim_caller_draw(u->by, "naps", 3); n > 0; n--) {
		sim_nap((int64_t)sim_caller_draw(u->by, "nap", 20000) *
			(u->by->play->nap_ns / 20000));
		if (!look_at(u))
			return;
	}
}

/* ---- Upgrades ------------------------------------------------------------ */

static dlock_lock *new_upgradeable(dlock_lock *rwlock)
{
	dlock_lock *upgradeable;
	int rc = dlock_upgradeable_new(&upgradeable, rwlock);

	if (rc != DLOCK_OK)
		sim_unexpected("dlock_upgradeable_new", rc);
	return upgradeable;
}

void sim_use_upgradeable_once(dlock_lock *rwlock)
{
	dlock_lock *upgradeable = new_upgradeable(rwlock);

	sim_use_once(upgradeable);
	dlock_lock_free(upgradeable);
}

static void upgrade(struct sim_use *u, dlock_lock *upgradeable,
		    dlock_hold *reads, int64_t timeout_ms)
{
	struct sim_use w = *u;
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc;

	sim_sched_tell("caller %d upgrades %p, for %d ms", u->owner,
		       (void *)u->name, (int)timeout_ms);
	w.side = SIM_WRITE;
	rc = dlock_upgrade(upgradeable, reads, timeout_ms, &w.hold);
	sim_judge_returned("an upgrade", begun, stalled, timeout_ms);
	if (!sim_may_end(u->by->play, rc, timeout_ms))
		sim_unexpected("dlock_upgrade", rc);
	if (rc != DLOCK_OK)
		return;
	sim_judge_granted(w.name, w.side, w.hold, w.owner, begun, stalled);
	sim_use_for_a_while(&w);
	sim_use_release(&w, w.hold);
}

void sim_use_upgradeable(struct sim_use *u, int64_t timeout_ms,
			 int64_t upgrade_ms)
{
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	dlock_lock *upgradeable = new_upgradeable(u->lock);
	dlock_hold *reads;
	int rc;

	sim_sched_tell("caller %d asks for upgradeable %p, for %d ms", u->owner,
		       (void *)u->name, (int)timeout_ms);
	rc = dlock_acquire(upgradeable, timeout_ms, &reads);
	sim_judge_returned("an upgradeable acquire", begun, stalled,
			   timeout_ms);
	if (!sim_may_end(u->by->play, rc, timeout_ms))
		sim_unexpected("an upgradeable acquire", rc);
	if (rc == DLOCK_OK) {
		u->hold = dlock_member(reads, 0);
		sim_judge_granted(u->name, SIM_READ, u->hold, u->owner,
				  SIM_FOREVER, stalled);
		sim_use_for_a_while(u);
		upgrade(u, upgradeable, reads, upgrade_ms);
		sim_use_for_a_while(u);
		sim_use_release(u, reads);
	}
	dlock_lock_free(upgradeable);
}
