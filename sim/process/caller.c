/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/caller.h"

#include <dlock/async.h>

#include "sim/process/sched.h"

static size_t draw(struct sim_caller *me, const char *site, size_t n)
{
	return (size_t)sim_draw(me->play->chance, site, n);
}

static void nap(int64_t ns)
{
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + ns);
}

static void unexpected(const char *call, int rc)
{
	sim_sched_fail("%s returned %d: %s", call, rc, dlock_errmsg());
}

/* May an acquire end with `rc`? */
static int may_end(const struct sim_play *p, int rc, int64_t timeout_ms)
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

/* ---- A hold -------------------------------------------------------------- */

struct use {
	struct sim_caller *by;
	struct sim_name *name;
	dlock_lock *lock;
	enum sim_side side;
	dlock_hold *hold;
	int owner; /* for the judge; another for unbound handles */
};

/* Is the hold valid?  The event of a loss comes soon. */
static int look_at(struct use *u)
{
	int rc = dlock_check(u->hold);

	if (rc == DLOCK_OK)
		return 1;
	if (rc != DLOCK_ELOST)
		unexpected("dlock_check", rc);
	sim_judge_lost(u->hold);
	nap(u->by->play->told_ns);
	if (!u->by->play->close_has_begun) /* and ends all events */
		sim_judge_told(u->hold);
	return 0;
}

static void release(struct use *u)
{
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc;

	sim_judge_releasing(u->hold, u->owner);
	rc = dlock_release(u->hold);
	sim_judge_released(u->name, rc);
	sim_judge_returned("a release", begun, stalled, 0);
}

static void hold_for_a_while(struct use *u)
{
	for (size_t n = draw(u->by, "naps", 3); n > 0; n--) {
		nap((int64_t)draw(u->by, "nap", 20000) *
		    (u->by->play->nap_ns / 20000));
		if (!look_at(u))
			return;
	}
}

/* ---- Acquires that wait -------------------------------------------------- */

static int64_t draw_timeout(struct sim_caller *me, int may_wait)
{
	switch (draw(me, "timeout", may_wait ? 4 : 2)) {
	case 0:
		return 0;
	case 1:
		return (int64_t)draw(me, "ms", 50) + 1;
	default:
		return DLOCK_FOREVER;
	}
}

static int acquire(struct use *u, int64_t timeout_ms)
{
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc;

	sim_sched_tell("caller %d asks for %p, side %d, for %d ms", u->owner,
		       (void *)u->name, (int)u->side, (int)timeout_ms);
	u->by->waits = timeout_ms < 0;
	if (u->side == SIM_READ)
		rc = dlock_acquire_shared(u->lock, timeout_ms, &u->hold);
	else
		rc = dlock_acquire(u->lock, timeout_ms, &u->hold);
	u->by->waits = 0;
	sim_judge_returned("an acquire", begun, stalled, timeout_ms);
	if (!may_end(u->by->play, rc, timeout_ms))
		unexpected("an acquire", rc);
	if (rc == DLOCK_OK)
		sim_judge_granted(u->name, u->side, u->hold, u->owner, begun,
				  stalled);
	return rc;
}

static struct use draw_use(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	size_t i = draw(me, "name", p->n_names);
	struct use u = {
		me,        &p->names[i], p->handles[me->client].lock[i],
		SIM_WRITE, NULL,         me->number
	};

	if (u.name->kind == SIM_PERMITS)
		u.side = SIM_PERMIT;
	else if (u.name->kind == SIM_READ_WRITE && draw(me, "reads", 2))
		u.side = SIM_READ;
	return u;
}

/* Take the lock again, or as a writer the read side. */
static void take_again(const struct use *u)
{
	struct use again = *u;

	if (u->side == SIM_PERMIT)
		return;
	if (u->side == SIM_WRITE && u->name->kind == SIM_READ_WRITE &&
	    draw(u->by, "down", 2))
		again.side = SIM_READ;
	if (acquire(&again, draw_timeout(u->by, 0)) != DLOCK_OK)
		return;
	hold_for_a_while(&again);
	release(&again);
}

static void take(struct sim_caller *me)
{
	struct use u = draw_use(me);

	if (acquire(&u, draw_timeout(me, 1)) != DLOCK_OK)
		return;
	hold_for_a_while(&u);
	if (draw(me, "again", 4) == 0 && dlock_check(u.hold) == DLOCK_OK)
		take_again(&u);
	release(&u);
}

/* ---- Multi-locks --------------------------------------------------------- */

/* Two names, of a single client or of two clients. */
static void take_both(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	size_t other = (me->client + draw(me, "other", 2)) % p->n_clients;
	size_t first = draw(me, "name", p->n_names - 1);
	struct sim_name *names[] = { &p->names[first], &p->names[first + 1] };
	int64_t timeout_ms = draw_timeout(me, 1), begun = sim_sched_now();
	int64_t stalled = sim_sched_stalled();
	dlock_lock *both;
	dlock_hold *h;
	int rc;

	rc = dlock_multi_new(
		&both,
		(dlock_lock *[]){ p->handles[me->client].lock[first],
				  p->handles[other].lock[first + 1] },
		2);
	if (rc != DLOCK_OK)
		unexpected("dlock_multi_new", rc);
	sim_sched_tell("caller %d asks for %p and the next, for %d ms",
		       me->number, (void *)names[0], (int)timeout_ms);
	rc = dlock_acquire(both, timeout_ms, &h);
	sim_judge_returned("a multi-lock's acquire", begun, stalled,
			   timeout_ms);
	if (!may_end(p, rc, timeout_ms))
		unexpected("a multi-lock's acquire", rc);
	for (size_t i = 0; rc == DLOCK_OK && i < 2; i++)
		sim_judge_granted(
			names[i],
			names[i]->kind == SIM_PERMITS ? SIM_PERMIT : SIM_WRITE,
			dlock_member(h, i), me->number, SIM_FOREVER, stalled);
	if (rc == DLOCK_OK) {
		nap((int64_t)draw(me, "nap", 20000) * 1000);
		for (size_t i = 0; i < 2; i++)
			sim_judge_releasing(dlock_member(h, i), me->number);
		rc = dlock_release(h);
		for (size_t i = 0; i < 2; i++)
			sim_judge_released(names[i], rc);
	}
	dlock_lock_free(both);
}

/* ---- Acquires that are begun --------------------------------------------- */

struct outcome {
	struct use use;
	int over, rc;
	int64_t begun, stalled;
};

/* The judge knows the hold from here on: the event of a loss may come before
 * the caller looks. */
static void note(const struct dlock_result *r, void *arg)
{
	struct outcome *o = arg;
	struct use *u = &o->use;

	o->over++;
	o->rc = r->code;
	u->hold = r->hold;
	if (r->hold)
		sim_judge_granted(u->name, u->side, u->hold, u->owner, o->begun,
				  o->stalled);
}

/* Another caller of the client may process. */
static void process_until(struct sim_caller *me, const struct outcome *o)
{
	dlock_client *c = me->play->client[me->client];

	while (!o->over) {
		int rc = dlock_wait(c, 10);

		if (rc == DLOCK_EBUSY)
			nap(SIM_MS);
		else if (rc < 0)
			unexpected("dlock_wait", rc);
	}
	if (o->over != 1)
		sim_sched_fail("a callback came %d times", o->over);
}

static void begin(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	int64_t timeout_ms = draw_timeout(me, 1);
	struct outcome o = {
		.use = draw_use(me),
		.begun = sim_sched_now(),
		.stalled = sim_sched_stalled(),
	};
	struct use *u = &o.use;
	dlock_op op = 0;
	int rc;

	if (u->side == SIM_READ)
		u->side = SIM_WRITE;
	u->lock = p->handles[me->client].loose[u->name - p->names];
	u->owner = 100 + me->number;
	sim_sched_tell("caller %d begins %p for %d ms", u->owner,
		       (void *)u->name, (int)timeout_ms);
	rc = dlock_acquire_start(u->lock, timeout_ms, note, &o, &op);
	if (rc != DLOCK_OK)
		unexpected("dlock_acquire_start", rc);
	if (p->may_cancel && draw(me, "cancel", 3) == 0) {
		o.begun = SIM_FOREVER; /* no thread may process meanwhile */
		nap((int64_t)draw(me, "nap", 5000) * 1000);
		rc = dlock_cancel_op(p->client[me->client], op);
		if (rc != DLOCK_OK && rc != DLOCK_EINVAL)
			unexpected("dlock_cancel_op", rc);
	}
	process_until(me, &o);
	if (!may_end(p, o.rc, timeout_ms))
		unexpected("an acquire that was begun", o.rc);
	if (o.rc != DLOCK_OK)
		return;
	hold_for_a_while(u);
	release(u);
}

/* ---- The rest ------------------------------------------------------------ */

static void meddle(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	size_t client = draw(me, "whose", p->n_clients);
	struct use u = draw_use(me);
	int rc = DLOCK_OK;

	switch (draw(me, "deed", 4)) {
	case 0:
		if (p->may_cancel)
			dlock_cancel(
				p->handles[client].lock[u.name - p->names]);
		return;
	case 1:
		rc = dlock_revoke(u.lock, 1000);
		break;
	case 2:
		if (!p->may_break)
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
	if (rc != DLOCK_OK && !(rc == DLOCK_EUNREACHABLE && p->may_lose))
		unexpected("a deed", rc);
}

void *sim_caller_run(void *caller)
{
	struct sim_caller *me = caller;

	for (int i = 0; i < me->steps; i++) {
		if (me->play->close_has_begun &&
		    me->play->closing == me->client)
			break;
		switch (draw(me, "step", 10)) {
		case 0:
			meddle(me);
			break;
		case 1:
			nap((int64_t)draw(me, "nap", 10000) * 1000);
			break;
		case 2:
			begin(me);
			break;
		case 3:
		case 4:
			if (me->play->n_names > 1 && !me->play->closes)
				take_both(me);
			break;
		default:
			take(me);
		}
	}
	me->over = 1;
	return NULL;
}
