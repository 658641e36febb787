/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/upgrader.h"

#include <dlock/async.h>

#include "sim/process/options.h"
#include "sim/process/sched.h"
#include "sim/process/use.h"

/* Take the lock upgradeable; or, beside such a hold, the write side.  Returns
 * the program's hold, or NULL. */
static dlock_hold *take(struct sim_use *u, dlock_hold *beside)
{
	const char *what = beside ? "an upgrade" : "an upgradeable acquire";
	int64_t timeout_ms = sim_draw_timeout(u->by, 1);
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	dlock_client *c = u->by->play->client[u->by->client];
	dlock_hold *hold;
	int rc;

	u->opts.timeout_ms = timeout_ms;
	if (!beside && u->opts.max_hold_ms > 0) /* time to take both members */
		u->opts.max_hold_ms += sim_options_least_ms(u->by);
	sim_sched_tell("caller %d asks for %s of %p, for %d ms", u->owner, what,
		       (void *)u->name, (int)timeout_ms);
	u->by->waits = timeout_ms < 0;
	if (beside)
		rc = dlock_upgrade(u->lock, beside, timeout_ms, &hold);
	else if (u->opts.size > 0)
		rc = dlock_acquire_opts(u->lock, &u->opts, &hold);
	else
		rc = dlock_acquire(u->lock, timeout_ms, &hold);
	u->by->waits = 0;
	sim_judge_returned(what, begun, stalled, timeout_ms);
	if (!sim_may_end(u->by->play, u->name, rc, timeout_ms) &&
	    !sim_options_may_end(&u->opts, rc, timeout_ms, 1))
		sim_unexpected(what, rc);
	if (rc != DLOCK_OK)
		return NULL;
	u->hold = beside ? hold : dlock_member(hold, 0);
	sim_judge_granted(u->name, u->side, u->hold, u->owner, SIM_FOREVER,
			  stalled);
	if (u->opts.size > 0)
		sim_options_agree(&u->opts, c, u->hold, begun);
	sim_use_hold(u);
	return hold;
}

static void upgrade(const struct sim_use *reader, dlock_hold *upgradeable)
{
	struct sim_use writer = *reader;

	writer.side = SIM_WRITE;
	if (take(&writer, upgradeable))
		sim_use_release(&writer);
}

/* ---- Begun, and left ----------------------------------------------------- */

struct begun {
	struct sim_use writer;
	int over;
	int released; /* so is the reader, and the writer was not in the way */
};

static void note_behind(const struct begun *b)
{
	if (b->released && b->writer.hold)
		sim_sched_fail("an upgrade came behind the release");
}

static void note(const struct dlock_result *r, void *arg)
{
	struct begun *b = arg;
	struct sim_use *w = &b->writer;

	b->over++;
	w->hold = r->hold;
	note_behind(b);
	if (r->hold)
		sim_judge_granted(w->name, SIM_WRITE, w->hold, w->owner,
				  SIM_FOREVER, sim_sched_stalled());
}

/* Another caller of the client may have processed the grant. */
static void release_writer(struct begun *b)
{
	if (b->writer.hold)
		sim_use_release(&b->writer);
	b->writer.hold = NULL;
}

static void await_writer(const struct sim_caller *me, struct begun *b)
{
	release_writer(b);
	while (!b->over) {
		if (dlock_wait(me->play->client[me->client], 10) != DLOCK_OK)
			sim_nap(SIM_MS);
		release_writer(b);
	}
}

/* Begin an upgrade, and cancel the upgrade or begin to release the write side:
 * the reader is released at once. */
static void begin_upgrade(const struct sim_use *reader, dlock_hold *upgradeable,
			  struct begun *b)
{
	struct sim_caller *me = reader->by;
	dlock_client *c = me->play->client[me->client];
	dlock_op op;
	int rc;

	b->writer = *reader;
	b->writer.hold = NULL;
	b->writer.side = SIM_WRITE;
	sim_sched_tell("caller %d begins to upgrade %p", reader->owner,
		       (void *)reader->name);
	rc = dlock_upgrade_start(reader->lock, upgradeable, -1, note, b, &op);
	b->over = rc != DLOCK_OK;
	if (rc != DLOCK_OK && rc != DLOCK_ELOST && !sim_is_scarce(me->play, rc))
		sim_unexpected("dlock_upgrade_start", rc);
	if (rc != DLOCK_OK)
		return;
	sim_nap((int64_t)sim_caller_draw(me, "nap", 5000) * 1000);
	rc = dlock_cancel_op(c, op);
	if (rc != DLOCK_OK && rc != DLOCK_EINVAL)
		sim_unexpected("dlock_cancel_op", rc);
	if (b->writer.hold && sim_caller_draw(me, "leave", 2) == 0) {
		sim_judge_releasing(b->writer.hold, b->writer.owner);
		rc = dlock_release_start(b->writer.hold, NULL, NULL);
		if (rc != DLOCK_OK)
			rc = dlock_release(b->writer.hold);
		b->writer.hold = NULL;
		sim_judge_released(b->writer.name, rc,
				   sim_may_lose(me->play, b->writer.name));
	}
}

struct released {
	int over, rc;
};

static void note_released(const struct dlock_result *r, void *arg)
{
	struct released *released = arg;

	released->rc = r->code;
	released->over++;
}

/* Release the reader, in some plays without waiting. */
static int release(const struct sim_use *reader, dlock_hold *upgradeable,
		   struct begun *b)
{
	const struct sim_play *p = reader->by->play;
	struct released released = { 0 };
	int rc;

	if (!p->terms.starts_releases)
		return dlock_release(upgradeable);
	rc = dlock_release_start(upgradeable, note_released, &released);
	if (rc == DLOCK_EINVAL)
		return rc;
	if (rc != DLOCK_OK)
		return dlock_release(upgradeable);
	b->released = 1;
	note_behind(b);
	sim_await(p, p->client[reader->by->client], &released.over);
	return released.rc;
}

static int release_reader(const struct sim_use *reader, dlock_hold *upgradeable,
			  struct begun *b)
{
	int rc;

	release_writer(b);
	sim_judge_releasing(reader->hold, reader->owner);
	rc = release(reader, upgradeable, b);
	if (rc == DLOCK_EINVAL) {
		if (!dlock_member(upgradeable, 0) ||
		    !dlock_member(upgradeable, 1))
			sim_unexpected("half of a refused release", rc);
		await_writer(reader->by, b);
		rc = release(reader, upgradeable, b);
	}
	await_writer(reader->by, b);
	return rc;
}

/* ---- The read side ------------------------------------------------------- */

static void read_first(struct sim_use *u)
{
	struct begun b = { .over = 1 };
	dlock_hold *upgradeable;
	int rc;

	u->side = SIM_READ;
	upgradeable = take(u, NULL);
	if (!upgradeable)
		return;
	if (dlock_check(upgradeable) == DLOCK_OK &&
	    sim_caller_draw(u->by, "upgrade", 3) > 0) {
		if (u->by->play->terms.begins_upgrades)
			begin_upgrade(u, upgradeable, &b);
		else
			upgrade(u, upgradeable);
	}
	rc = release_reader(u, upgradeable, &b);
	sim_judge_released(u->name, rc,
			   sim_may_lose(u->by->play, u->name) ||
				   sim_options_end(&u->opts));
}

void sim_caller_upgrade(struct sim_caller *me)
{
	const struct sim_play *p = me->play;
	struct sim_use u = sim_use_draw(me);

	u.lock = p->handles[me->client].upgradeable[u.name - p->names];
	if (p->terms.begins_upgrades) {
		u.lock = p->handles[me->client]
				 .loose_upgradeable[u.name - p->names];
		u.owner = 100 + me->number;
	}
	/* An upgradeable reader has another name beside, which another server
	 * may keep. */
	if (u.lock && !u.name->is_well)
		read_first(&u);
}
