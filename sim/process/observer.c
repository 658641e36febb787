/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/observer.h"

#include <dlock/async.h>
#include <stdio.h>
#include <string.h>

#include "sim/process/hasty.h"
#include "sim/process/sched.h"
#include "sim/process/stage.h"
#include "sim/process/use.h"

enum { LOOK_MS = 1000 };

/* How a call that was begun has ended. */
struct end {
	int over, rc;
};

/* A report of the store, and the look that the caller's hold must have
 * there. */
struct look {
	char name[32];
	uint64_t least, most; /* tokens: a claim that is passed on has the token
			       * of an earlier hold */
	int is_reported;      /* a holder with such a token */
	int is_listed;
	struct end end; /* of a call that was begun */
};

static void note_end(const struct dlock_result *r, void *arg)
{
	struct end *e = arg;

	e->over++;
	e->rc = r->code;
}

static dlock_client *client_of(const struct sim_caller *me)
{
	return me->play->client[me->client];
}

/* Does a report of the store come in time?  A store without the capability
 * says so. */
static int is_told(const struct sim_use *u, const char *call, uint32_t cap,
		   int rc)
{
	const struct sim_play *p = u->by->play;
	int can = (dlock_caps(client_of(u->by)) & cap) != 0;

	if (rc == DLOCK_ENOTSUP ? can :
				  !sim_may_end(p, u->name, rc, -1) &&
					  !(rc == DLOCK_EUNREACHABLE &&
					    sim_may_fail(p, u->name)))
		sim_unexpected(call, rc);
	return rc == DLOCK_OK;
}

/* The caller's hold stood during the look: the report must have it. */
static void must_have(const struct sim_use *u, const char *call, int has)
{
	if (!has && u->hold && dlock_check(u->hold) == DLOCK_OK &&
	    !sim_judge_may_overlap(u->name))
		sim_sched_fail("%s does not report the hold of caller %d", call,
			       u->owner);
}

/* ---- Reports ------------------------------------------------------------- */

static void see(const struct dlock_participant *p, void *arg)
{
	struct look *l = arg;

	l->is_reported |= !p->waiting && p->token >= l->least &&
			  p->token <= l->most;
}

static void note_inspected(const struct dlock_result *r, void *arg)
{
	struct look *l = arg;

	note_end(r, &l->end);
}

static void inspect(const struct sim_use *u, struct look *l)
{
	const struct sim_play *p = u->by->play;
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc;

	if (sim_caller_draw(u->by, "begun", 2) == 0) {
		rc = dlock_inspect(u->lock, see, l, LOOK_MS);
		sim_judge_returned("dlock_inspect", begun, stalled, LOOK_MS);
	} else {
		rc = dlock_inspect_start(u->lock, see, LOOK_MS, note_inspected,
					 l);
		if (rc == DLOCK_OK) {
			sim_await(p, client_of(u->by), &l->end.over);
			rc = l->end.rc;
		}
	}
	if (is_told(u, "dlock_inspect", DLOCK_CAP_INSPECT, rc))
		must_have(u, "dlock_inspect", l->is_reported);
}

static void count_permits(const struct sim_use *u)
{
	struct dlock_permits p = { .size = sizeof(p) };
	int rc;

	if (u->name->kind != SIM_PERMITS)
		return;
	rc = dlock_semaphore_permits(u->lock, &p, LOOK_MS);
	if (!is_told(u, "dlock_semaphore_permits", DLOCK_CAP_INSPECT, rc))
		return;
	if (p.limit == 0 || p.free != (p.held < p.limit ? p.limit - p.held : 0))
		sim_sched_fail("%u of %u permits are held, and %u are free",
			       p.held, p.limit, p.free);
	must_have(u, "dlock_semaphore_permits", p.held > 0);
}

static void list_entry(const struct dlock_lock_info *entry, void *arg)
{
	struct look *l = arg;

	l->is_listed |= strcmp(entry->name, l->name) == 0;
}

static void list(const struct sim_use *u, struct look *l)
{
	int rc = dlock_list(client_of(u->by), list_entry, l, LOOK_MS);

	if (is_told(u, "dlock_list", DLOCK_CAP_LIST, rc))
		must_have(u, "dlock_list", l->is_listed);
}

/* With a hold, or without. */
static void look(struct sim_caller *me)
{
	struct sim_use u = sim_use_draw(me);
	struct look l = { .least = 1 };

	snprintf(l.name, sizeof(l.name), "name%zu",
		 (size_t)(u.name - me->play->names));
	if (sim_caller_draw(me, "holds", 4) > 0 &&
	    sim_use_acquire(&u, sim_draw_timeout(me, 1)) != DLOCK_OK)
		return;
	if (u.hold)
		l.most = dlock_token(u.hold);
	if (u.hold && u.side != SIM_WRITE)
		l.least = l.most;
	inspect(&u, &l);
	count_permits(&u);
	list(&u, &l);
	if (u.hold)
		sim_use_release(&u);
}

/* ---- Breaks -------------------------------------------------------------- */

static void break_lock(struct sim_caller *me)
{
	const struct sim_play *p = me->play;
	struct sim_use u = sim_use_draw(me);
	struct end end = { 0 };
	int rc;

	sim_sched_tell("caller %d begins to break %p", me->number,
		       (void *)u.name);
	rc = dlock_break_start(u.lock, LOOK_MS, note_end, &end);
	if (rc == DLOCK_OK) {
		sim_await(p, client_of(me), &end.over);
		rc = end.rc;
	}
	if (!sim_may_end(p, u.name, rc, 0))
		sim_unexpected("a break that was begun", rc);
}

/* ---- A client of the caller ---------------------------------------------- */

struct visit {
	struct sim_use use;
	dlock_client *client;
	struct end open, acquire;
	int64_t stalled;
};

static void granted(const struct dlock_result *r, void *arg)
{
	struct visit *v = arg;
	struct sim_use *u = &v->use;

	note_end(r, &v->acquire);
	u->hold = r->hold;
	if (r->hold)
		sim_judge_granted(u->name, u->side, u->hold, u->owner,
				  SIM_FOREVER, v->stalled);
}

/* Begin to take a lock.  Returns the code. */
static int begin_there(struct visit *v, int64_t timeout_ms)
{
	struct sim_use *u = &v->use;
	const struct sim_play *p = u->by->play;
	int rc;

	u->lock = sim_stage_lock_of(p, v->client, (size_t)(u->name - p->names),
				    1);
	rc = dlock_acquire_start(u->lock, timeout_ms, granted, v, NULL);
	if (rc != DLOCK_OK && !sim_is_scarce(p, rc))
		sim_unexpected("dlock_acquire_start", rc);
	return rc;
}

static void close_there(const struct visit *v)
{
	struct sim_play *p = v->use.by->play;

	if (p->terms.hasty)
		sim_hasty_close(p, v->client);
	else
		sim_stage_close(p, v->client);
	p->visited_at = sim_sched_now();
}

/* Take a lock, and close the client behind the release. */
static void take_there(struct visit *v)
{
	struct sim_use *u = &v->use;
	const struct sim_play *p = u->by->play;
	int64_t timeout_ms = sim_draw_timeout(u->by, 0);

	if (begin_there(v, timeout_ms) == DLOCK_OK) {
		sim_await(p, v->client, &v->acquire.over);
		if (!sim_may_end(p, NULL, v->acquire.rc, timeout_ms))
			sim_unexpected("an acquire of a visitor",
				       v->acquire.rc);
	}
	if (u->hold)
		sim_use_release(u);
	close_there(v);
}

/* Close the client beside the acquire.  A hold ends with the client. */
static void leave(struct visit *v)
{
	struct sim_use *u = &v->use;
	const struct sim_play *p = u->by->play;
	int rc;

	u->name->leaving++;
	rc = begin_there(v, sim_draw_timeout(u->by, 1));
	if (p->terms.hasty)
		sim_nap((int64_t)sim_caller_draw(u->by, "nap", 5000) * 1000);
	close_there(v);
	u->name->leaving--;
	if (u->name->free_since < sim_sched_now())
		u->name->free_since = sim_sched_now();
	if (rc != DLOCK_OK)
		return;
	if (v->acquire.over != 1)
		sim_sched_fail("the callback of an acquire came %d times",
			       v->acquire.over);
	if (v->acquire.rc != DLOCK_ECANCELED &&
	    !sim_may_end(p, NULL, v->acquire.rc, 0))
		sim_unexpected("an acquire beside a close", v->acquire.rc);
	if (u->hold) {
		sim_judge_releasing(u->hold, u->owner);
		sim_judge_released(u->name, dlock_release(u->hold), 1);
	}
}

/* While the client opens, which takes a few answers of the store. */
static void nap_in_the_midst(struct sim_caller *me)
{
	const struct sim_terms *t = &me->play->terms;
	size_t most_us = t->slow ? (size_t)t->ttl_ms * 1000 : 20000;

	if (t->hasty)
		sim_nap((int64_t)sim_caller_draw(me, "nap", most_us) * 1000);
}

void sim_caller_visit(struct sim_caller *me)
{
	const struct sim_play *p = me->play;
	struct visit v = { .use = sim_use_draw(me),
			   .stalled = sim_sched_stalled() };
	dlock_options o = DLOCK_OPTIONS_INIT;
	char uri[sizeof(p->terms.uri)];
	size_t deed = sim_caller_draw(me, "visit", 4);
	int rc;

	v.use.lock = NULL;
	v.use.owner = 200 + me->number;
	if (v.use.side == SIM_READ)
		v.use.side = SIM_WRITE;
	o.on_event = sim_ear_event;
	sim_stage_uri(p, p->terms.ports > 0 ? 0 : -1, uri);
	sim_sched_tell("caller %d opens a client", v.use.owner);
	rc = dlock_open_start(uri, &o, &v.client, note_end, &v.open);
	if (sim_is_scarce(p, rc))
		return;
	sim_stage_must("dlock_open_start", rc);
	if (deed > 0)
		sim_await(p, v.client, &v.open.over);
	else
		nap_in_the_midst(me);
	if (v.open.over && v.open.rc != DLOCK_OK &&
	    !sim_may_end(p, NULL, v.open.rc, 0))
		sim_unexpected("an open that was begun", v.open.rc);
	if (deed == 0 || v.open.rc != DLOCK_OK)
		close_there(&v);
	else if (deed == 1)
		leave(&v);
	else
		take_there(&v);
	dlock_lock_free(v.use.lock);
	if (v.open.over != 1)
		sim_sched_fail("the callback of an open came %d times",
			       v.open.over);
}

void sim_caller_observe(struct sim_caller *me)
{
	switch (sim_caller_draw(me, "deed", 4)) {
	case 0:
		sim_caller_visit(me);
		break;
	case 1:
		if (me->play->terms.may_break) {
			break_lock(me);
			break;
		}
		look(me);
		break;
	default:
		look(me);
	}
}
