/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/both.h"

#include <dlock/async.h>

#include "sim/process/options.h"
#include "sim/process/sched.h"
#include "sim/process/use.h"

struct both {
	struct sim_caller *by;
	struct sim_name *names[2];
	enum sim_side side[2];
	dlock_acquire_options opts; /* size 0: there are none */
	int owner;                  /* for the judge */
	int64_t timeout_ms, begun, stalled;
	dlock_lock *lock;
	dlock_hold *hold;
	int over, rc; /* of a call that was begun */
};

static const struct sim_name *sick(const struct both *b)
{
	return b->names[b->names[0]->is_well];
}

/* Return the client's handle of the i-th member; `loose`: unbound. */
static dlock_lock *draw_member(struct both *b, size_t i, size_t client,
			       int loose)
{
	const struct sim_play *p = b->by->play;
	const struct sim_handles *handles = &p->handles[client];
	size_t n = (size_t)(b->names[i] - p->names);

	b->side[i] = b->names[i]->kind == SIM_PERMITS ? SIM_PERMIT : SIM_WRITE;
	if (loose)
		return handles->loose[n];
	if (!handles->reading[n] || sim_caller_draw(b->by, "reads", 2) == 0)
		return handles->lock[n];
	b->side[i] = SIM_READ;
	return handles->reading[n];
}

/* 0: there is no memory. */
static int draw(struct both *b, struct sim_caller *me, int loose)
{
	struct sim_play *p = me->play;
	/* A call that waits may not use another client that is closed. */
	size_t others = p->terms.closes_all ? 1 : 2;
	size_t other = (me->client + sim_caller_draw(me, "other", others)) %
		       p->n_clients;
	size_t first = sim_caller_draw(me, "name", p->n_names - 1);
	dlock_lock *member[2];
	int rc;

	*b = (struct both){
		.by = me,
		.names = { &p->names[first], &p->names[first + 1] },
		.owner = loose ? 100 + me->number : me->number,
		.timeout_ms = sim_draw_timeout(me, 1),
		.begun = sim_sched_now(),
		.stalled = sim_sched_stalled(),
	};
	member[0] = draw_member(b, 0, me->client, loose);
	member[1] = draw_member(b, 1, other, loose);
	if (p->terms.options)
		b->opts = sim_options_draw(me, b->names[0]);
	if (b->opts.max_hold_ms > 0)
		b->opts.max_hold_ms += sim_options_least_ms(me);
	b->opts.timeout_ms = b->timeout_ms;
	b->opts.permits = 0;
	rc = dlock_multi_new(&b->lock, member, 2);
	if (rc != DLOCK_OK && !sim_is_scarce(p, rc))
		sim_unexpected("dlock_multi_new", rc);
	sim_sched_tell("caller %d %s %p and the next, for %d ms", b->owner,
		       loose ? "begins" : "asks for", (void *)b->names[0],
		       (int)b->timeout_ms);
	return rc == DLOCK_OK;
}

/* A member may end by itself before both are taken. */
static int may_end(const struct both *b, const struct sim_name *name, int rc)
{
	return sim_may_end(b->by->play, name, rc, b->timeout_ms) ||
	       sim_options_may_end(&b->opts, rc, b->timeout_ms, 1);
}

static void granted(const struct both *b)
{
	dlock_client *c = b->by->play->client[b->by->client];

	for (size_t i = 0; i < 2; i++) {
		dlock_hold *h = dlock_member(b->hold, i);

		sim_judge_granted(b->names[i], b->side[i], h, b->owner,
				  SIM_FOREVER, b->stalled);
		if (b->opts.size > 0)
			sim_options_agree(&b->opts, c, h, b->begun);
	}
}

static void hold(const struct both *b)
{
	sim_nap((int64_t)sim_caller_draw(b->by, "nap", 20000) * 1000);
	for (size_t i = 0; i < 2; i++)
		sim_judge_releasing(dlock_member(b->hold, i), b->owner);
}

static void released(const struct both *b, int rc)
{
	for (size_t i = 0; i < 2; i++)
		sim_judge_released(b->names[i], rc,
				   sim_may_lose(b->by->play, sick(b)) ||
					   sim_options_end(&b->opts));
}

void sim_caller_take_both(struct sim_caller *me)
{
	struct both b;
	int rc;

	if (!draw(&b, me, 0))
		return;
	me->waits = b.timeout_ms < 0;
	if (b.opts.size > 0)
		rc = dlock_acquire_opts(b.lock, &b.opts, &b.hold);
	else
		rc = dlock_acquire(b.lock, b.timeout_ms, &b.hold);
	me->waits = 0;
	sim_judge_returned("a multi-lock's acquire", b.begun, b.stalled,
			   b.timeout_ms);
	if (!may_end(&b, sick(&b), rc))
		sim_unexpected("a multi-lock's acquire", rc);
	if (rc == DLOCK_OK) {
		granted(&b);
		hold(&b);
		released(&b, dlock_release(b.hold));
	}
	dlock_lock_free(b.lock);
}

/* ---- Begun --------------------------------------------------------------- */

static void note(const struct dlock_result *r, void *arg)
{
	struct both *b = arg;

	b->over++;
	b->rc = r->code;
	b->hold = r->hold;
	if (r->hold)
		granted(b);
}

static void cancel(const struct both *b, dlock_op op)
{
	int rc;

	sim_nap((int64_t)sim_caller_draw(b->by, "nap", 5000) * 1000);
	if (sim_caller_draw(b->by, "handle", 2) == 0) {
		dlock_cancel(b->lock);
		return;
	}
	rc = dlock_cancel_op(b->by->play->client[b->by->client], op);
	if (rc != DLOCK_OK && rc != DLOCK_EINVAL)
		sim_unexpected("dlock_cancel_op", rc);
}

static void give_back(struct both *b)
{
	dlock_client *c = b->by->play->client[b->by->client];

	hold(b);
	b->over = 0;
	if (sim_caller_draw(b->by, "wait", 2) == 0 &&
	    dlock_release_start(b->hold, note, b) == DLOCK_OK) {
		sim_await(b->by->play, c, &b->over);
		released(b, b->rc);
	} else {
		released(b, dlock_release(b->hold));
	}
}

void sim_caller_begin_both(struct sim_caller *me)
{
	const struct sim_play *p = me->play;
	struct both b;
	dlock_op op;
	int rc;

	if (!draw(&b, me, 1))
		return;
	if (b.opts.size > 0)
		rc = dlock_acquire_opts_start(b.lock, &b.opts, note, &b, &op);
	else
		rc = dlock_acquire_start(b.lock, b.timeout_ms, note, &b, &op);
	if (rc == DLOCK_OK) {
		if (p->terms.may_cancel &&
		    sim_caller_draw(me, "cancel", 3) == 0)
			cancel(&b, op);
		sim_await(p, p->client[me->client], &b.over);
		if (!may_end(&b, NULL, b.rc))
			sim_unexpected("a multi-lock's acquire", b.rc);
	} else if (!sim_is_scarce(p, rc) &&
		   !(rc == DLOCK_ECANCELED && p->close_has_begun)) {
		sim_unexpected("dlock_acquire_start", rc);
	}
	if (b.hold)
		give_back(&b);
	dlock_lock_free(b.lock);
}
