/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/upgrader.h"

#include <inttypes.h>

#include "sim/process/sched.h"
#include "sim/process/use.h"

/* The reader has the lock; add the write side. */
static void upgrade(const struct sim_use *reader, dlock_hold *upgradeable)
{
	int64_t timeout_ms = sim_draw_timeout(reader->by, 1);
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	struct sim_use writer = *reader;
	int rc;

	writer.side = SIM_WRITE;
	sim_sched_tell("caller %d upgrades %p, for %d ms", reader->owner,
		       (void *)reader->name, (int)timeout_ms);
	reader->by->waits = timeout_ms < 0;
	rc = dlock_upgrade(reader->lock, upgradeable, timeout_ms, &writer.hold);
	reader->by->waits = 0;
	sim_judge_returned("an upgrade", begun, stalled, timeout_ms);
	if (!sim_may_end(reader->by->play, reader->name, rc, timeout_ms))
		sim_unexpected("an upgrade", rc);
	if (rc != DLOCK_OK)
		return;
	if (dlock_token(writer.hold) <= dlock_token(upgradeable))
		sim_sched_fail("an upgrade has token %" PRIu64
			       ", not more than %" PRIu64,
			       dlock_token(writer.hold),
			       dlock_token(upgradeable));
	sim_judge_granted(writer.name, SIM_WRITE, writer.hold, writer.owner,
			  SIM_FOREVER, stalled);
	sim_use_hold(&writer);
	sim_use_release(&writer);
}

static void read_first(struct sim_use *u)
{
	int64_t timeout_ms = sim_draw_timeout(u->by, 1);
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	dlock_hold *upgradeable;
	int rc;

	u->side = SIM_READ;
	sim_sched_tell("caller %d asks for %p, upgradeable, for %d ms",
		       u->owner, (void *)u->name, (int)timeout_ms);
	rc = dlock_acquire(u->lock, timeout_ms, &upgradeable);
	sim_judge_returned("an upgradeable acquire", begun, stalled,
			   timeout_ms);
	if (!sim_may_end(u->by->play, u->name, rc, timeout_ms))
		sim_unexpected("an upgradeable acquire", rc);
	if (rc != DLOCK_OK)
		return;
	u->hold = dlock_member(upgradeable, 0);
	sim_judge_granted(u->name, SIM_READ, u->hold, u->owner, SIM_FOREVER,
			  stalled);
	sim_use_hold(u);
	if (dlock_check(upgradeable) == DLOCK_OK &&
	    sim_caller_draw(u->by, "upgrade", 3) > 0)
		upgrade(u, upgradeable);
	sim_judge_releasing(u->hold, u->owner);
	rc = dlock_release(upgradeable);
	sim_judge_released(u->name, rc, sim_may_lose(u->by->play, u->name));
}

void sim_caller_upgrade(struct sim_caller *me)
{
	const struct sim_play *p = me->play;
	struct sim_use u = sim_use_draw(me);

	u.lock = p->handles[me->client].upgradeable[u.name - p->names];
	/* An upgradeable reader has another name beside, which another server
	 * may keep. */
	if (u.lock && !u.name->is_well)
		read_first(&u);
}
