/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/caller.h"

#include <dlock/async.h>

#include "sim/process/both.h"
#include "sim/process/hasty.h"
#include "sim/process/observer.h"
#include "sim/process/options.h"
#include "sim/process/resize.h"
#include "sim/process/sched.h"
#include "sim/process/upgrader.h"
#include "sim/process/use.h"

/* ---- Acquires that wait -------------------------------------------------- */

/* Take the lock again, or as a writer the read side. */
static void take_again(const struct sim_use *u)
{
	struct sim_use again = *u;

	if (u->side == SIM_PERMIT || sim_options_end(&u->opts))
		return;
	if (u->side == SIM_WRITE && u->name->kind == SIM_READ_WRITE &&
	    sim_caller_draw(u->by, "down", 2))
		again.side = SIM_READ;
	if (sim_use_acquire(&again, sim_draw_timeout(u->by, 0)) != DLOCK_OK)
		return;
	sim_use_hold(&again);
	sim_use_release(&again);
}

static void take(struct sim_caller *me)
{
	struct sim_use u = sim_use_draw(me);

	if (sim_use_acquire(&u, sim_draw_timeout(me, 1)) != DLOCK_OK)
		return;
	sim_use_hold(&u);
	if (sim_caller_draw(me, "again", 4) == 0 &&
	    dlock_check(u.hold) == DLOCK_OK)
		take_again(&u);
	sim_use_release(&u);
}

/* ---- Acquires that are begun --------------------------------------------- */

struct outcome {
	struct sim_use use;
	int over, rc;
	int64_t begun, stalled;
	int may_be_late; /* no thread may process meanwhile */
};

/* The judge knows the hold from here on: the event of a loss may come before
 * the caller looks. */
static void note(const struct dlock_result *r, void *arg)
{
	struct outcome *o = arg;
	struct sim_use *u = &o->use;

	o->over++;
	o->rc = r->code;
	u->hold = r->hold;
	if (r->hold)
		sim_judge_granted(u->name, u->side, u->hold, u->owner,
				  o->may_be_late ? SIM_FOREVER : o->begun,
				  o->stalled - sim_options_pause(&u->opts));
	if (r->hold && u->opts.size > 0)
		sim_options_agree(&u->opts, u->by->play->client[u->by->client],
				  u->hold, o->begun);
}

static void begin(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	int64_t timeout_ms = sim_draw_timeout(me, 1);
	struct outcome o = {
		.use = sim_use_draw(me),
		.begun = sim_sched_now(),
		.stalled = sim_sched_stalled(),
	};
	struct sim_use *u = &o.use;
	dlock_op op = 0;
	int rc;

	if (u->side == SIM_READ)
		u->side = SIM_WRITE;
	u->lock = p->handles[me->client].loose[u->name - p->names];
	u->owner = 100 + me->number;
	sim_sched_tell("caller %d begins %p for %d ms", u->owner,
		       (void *)u->name, (int)timeout_ms);
	u->opts.timeout_ms = timeout_ms;
	if (u->opts.size > 0)
		rc = dlock_acquire_opts_start(u->lock, &u->opts, note, &o, &op);
	else
		rc = dlock_acquire_start(u->lock, timeout_ms, note, &o, &op);
	if (sim_is_scarce(p, rc))
		return;
	if (rc != DLOCK_OK)
		sim_unexpected("dlock_acquire_start", rc);
	if (p->terms.may_cancel && sim_caller_draw(me, "cancel", 3) == 0) {
		o.may_be_late = 1;
		sim_nap((int64_t)sim_caller_draw(me, "nap", 5000) * 1000);
		rc = dlock_cancel_op(p->client[me->client], op);
		if (rc != DLOCK_OK && rc != DLOCK_EINVAL)
			sim_unexpected("dlock_cancel_op", rc);
	}
	sim_await(p, p->client[me->client], &o.over);
	/* A call to a silent server has the turn for a while. */
	if (!sim_may_end(p, NULL, o.rc, timeout_ms) &&
	    !sim_use_may_end(u, o.rc, timeout_ms))
		sim_unexpected("an acquire that was begun", o.rc);
	if (o.rc != DLOCK_OK)
		return;
	sim_use_hold(u);
	sim_use_release(u);
}

/* ---- Another number of permits ------------------------------------------- */

enum { MOST_PERMITS = 5 };

static void resize(struct sim_caller *me)
{
	struct sim_use u = sim_use_draw(me);
	uint32_t permits = 1 + (uint32_t)sim_caller_draw(me, "resized",
							 MOST_PERMITS);
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc;

	if (u.name->kind != SIM_PERMITS)
		return;
	sim_judge_resizing(u.name, permits);
	rc = dlock_semaphore_resize(u.lock, permits, 1000);
	sim_judge_resized(u.name, permits, begun, rc);
	sim_judge_returned("a resize", begun, stalled, 1000);
	if (rc != DLOCK_OK && rc != DLOCK_EINVAL &&
	    !sim_is_scarce(me->play, rc) &&
	    !(rc == DLOCK_EUNREACHABLE && sim_may_fail(me->play, u.name)))
		sim_unexpected("a resize", rc);
}

/* ---- The rest ------------------------------------------------------------ */

static void meddle(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	size_t client = sim_caller_draw(me, "whose", p->n_clients);
	struct sim_use u = sim_use_draw(me);
	int rc = DLOCK_OK;

	switch (sim_caller_draw(me, "deed", 4)) {
	case 0:
		if (p->terms.may_cancel)
			dlock_cancel(
				p->handles[client].lock[u.name - p->names]);
		return;
	case 1:
		rc = sim_use_revoke(&u);
		break;
	case 2:
		if (!p->terms.may_break)
			break;
		sim_sched_tell("caller %d breaks %p", me->number,
			       (void *)u.name);
		rc = dlock_break(u.lock, 1000);
		break;
	default:
		rc = dlock_lock_held(u.lock) != 0;
		if (u.name->kind == SIM_PERMITS)
			rc = DLOCK_OK;
	}
	if (rc != DLOCK_OK && !sim_is_scarce(p, rc) &&
	    !(rc == DLOCK_EUNREACHABLE && sim_may_lose(p, u.name)))
		sim_unexpected("a deed", rc);
}

/* May the caller's client be closed beside calls of this kind? */
static int may_call(const struct sim_terms *t, int kind)
{
	return kind && (!t->closes || t->closes_all);
}

static void take_several(struct sim_caller *me)
{
	const struct sim_terms *t = &me->play->terms;

	if (t->begins_both)
		sim_caller_begin_both(me);
	else if (may_call(t, 1))
		sim_caller_take_both(me);
}

static void step(struct sim_caller *me)
{
	const struct sim_terms *t = &me->play->terms;

	if (may_call(t, t->rushes) && sim_caller_draw(me, "rush", 3) == 0) {
		if (t->resizes)
			resize(me);
		else
			sim_caller_upgrade(me);
		return;
	}
	switch (sim_caller_draw(me, "step", 10)) {
	case 0:
		if (t->observes)
			sim_caller_observe(me);
		else if (t->hasty)
			sim_caller_cancel_early(me);
		else
			meddle(me);
		break;
	case 1:
		if (t->hasty)
			sim_caller_visit(me);
		sim_nap((int64_t)sim_caller_draw(me, "nap", 10000) * 1000);
		break;
	case 2:
		begin(me);
		break;
	case 3:
	case 4:
		if (me->play->n_names > 1)
			take_several(me);
		break;
	case 5:
		if (may_call(t, t->upgrades))
			sim_caller_upgrade(me);
		else
			take(me);
		break;
	case 6:
		if (may_call(t, t->resizes))
			resize(me);
		else
			take(me);
		break;
	default:
		take(me);
	}
}

void *sim_caller_run(void *caller)
{
	struct sim_caller *me = caller;

	for (int i = 0; i < me->steps; i++) {
		if (me->play->close_has_begun &&
		    me->play->closing == me->client)
			break;
		step(me);
	}
	me->over = 1;
	return NULL;
}
