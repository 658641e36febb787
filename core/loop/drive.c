/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/drive.h"

#include <dlock/backend.h>
#include <stdlib.h>

#include "core/base/container.h"
#include "core/base/due.h"
#include "core/base/error.h"
#include "core/base/patience.h"
#include "core/base/source.h"
#include "core/loop/state.h"
#include "core/loop/traffic.h"
#include "core/loop/waiters.h"
#include "core/world/real.h"

/* How often dlock-loop looks while callers come and go. */
#define LOOK_NS (10 * DLK_MS)

/* All under the engine's mutex. */
struct dlki_drive {
	struct dlki_source source; /* dlock-loop's wait for the next look, and
				    * for ANSWERS */
	struct dlki_engine *engine;
	struct dlki_waiter self;    /* dlock-loop, as a leader */
	unsigned int sets;          /* constant: of a leading waiter */
	struct dlki_waiter *leader; /* or NULL */
	struct dlki_waiters waiters;
	int attended;     /* dlock-loop polls ANSWERS */
	int left;         /* a waiter has led since dlock-loop's last
				    * look, and no successor was there */
	dlk_time look_at; /* when dlock-loop looks next */
};

static dlk_time now(const struct dlki_engine *e)
{
	return e->world->type->now(e->world);
}

/* ---- Waking -------------------------------------------------------------- */

static void signal_due(struct dlki_engine *e, uint64_t conds)
{
	dlki_waiters_signal(&e->drive->waiters, conds);
}

/* Have the waiter look again, whether it leads or follows. */
static void rouse(struct dlki_engine *e, struct dlki_waiter *w)
{
	dlki_waiters_wake(e, w);
	if (e->drive->leader == w && e->in_wait[DLKI_ANSWERS])
		e->world->type->kick(e->world, DLKI_ANSWERS);
}

void dlki_waiter_done(struct dlki_engine *e, struct dlki_waiter *w)
{
	w->done = 1;
	rouse(e, w);
}

void dlki_drive_rouse(struct dlki_engine *e)
{
	struct dlki_waiter *w;

	if (dlki_lock(e) != 0)
		return;
	TAILQ_FOREACH(w, &e->drive->waiters.all, in_all) {
		if (dlki_patience_cancelled(w->patience))
			rouse(e, w);
	}
	dlki_unlock(e);
}

/* ---- The role ------------------------------------------------------------ */

/* dlock-loop polls the set while no other thread leads. */
static void attend(struct dlki_drive *d, int on)
{
	if (d->attended == on)
		return;
	d->attended = on;
	dlki_source_listen(&d->source, on);
}

static void begin_to_lead(struct dlki_drive *d, struct dlki_waiter *w)
{
	d->leader = w;
	attend(d, 0);
}

/* The leader leaves.  A done waiter is about to leave itself, and cannot
 * succeed. */
static void hand_over(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;
	struct dlki_waiter *w = TAILQ_FIRST(&d->waiters.all);

	while (w && w->done)
		w = TAILQ_NEXT(w, in_all);
	d->leader = NULL;
	if (!w)
		return;
	begin_to_lead(d, w);
	dlki_waiters_wake(e, w);
}

/* Have dlock-loop look at `at`; now: dlock-loop leads, though a waiter has led
 * just before. */
static void nudge(struct dlki_engine *e, dlk_time at)
{
	struct dlki_drive *d = e->drive;

	if (at <= e->now)
		d->left = 0;
	if (d->look_at <= at)
		return;
	d->look_at = at;
	dlki_source_at(&d->source, at);
}

void dlki_drive_soon(struct dlki_engine *e)
{
	nudge(e, e->now);
}

static void leave(struct dlki_engine *e, struct dlki_waiter *w)
{
	struct dlki_drive *d = e->drive;

	TAILQ_REMOVE(&d->waiters.all, w, in_all);
	if (d->leader != w)
		return;
	hand_over(e);
	if (!d->leader) {
		d->left = 1;
		nudge(e, e->now + LOOK_NS);
	}
}

static dlk_time deadline_of(const struct dlki_waiter *w, dlk_time deadline)
{
	if (w->idle && dlki_patience_cancelled(w->patience))
		return 0;
	return dlk_deadline(deadline);
}

/* In a client without threads the leader has taken the news in. */
static void end_pumps(struct dlki_engine *e)
{
	struct dlki_waiter *w;

	if (e->drive->sets != DLKI_ALL_SETS)
		return;
	TAILQ_FOREACH(w, &e->drive->waiters.all, in_all) {
		if (w->pumps)
			dlki_waiter_done(e, w);
	}
}

static void lead_or_follow(struct dlki_engine *e, struct dlki_waiter *w,
			   dlk_time deadline)
{
	struct dlki_drive *d = e->drive;
	dlk_time until = deadline_of(w, deadline);
	dlk_time at = e->now; /* of the push */

	TAILQ_INSERT_TAIL(&d->waiters.all, w, in_all);
	while (!w->done && at < until) {
		if (!d->leader)
			begin_to_lead(d, w);
		if (d->leader == w) {
			dlki_turn_for_answer(e, d->sets, until);
			end_pumps(e);
			at = e->now;
		} else {
			dlki_waiters_sleep(e, &d->waiters, w, until);
			at = now(e);
		}
		until = deadline_of(w, deadline);
	}
	leave(e, w);
}

int dlki_drive(struct dlki_engine *e, struct dlki_waiter *w, dlk_time deadline)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	w->patience = dlki_patience_here();
	dlki_push(e);
	if (!w->done) {
		dlki_due_await();
		lead_or_follow(e, w, deadline);
		/* Late: the waiter's own alarms may be due as well, and the
		 * leader may be a stopped thread. */
		if (!w->done)
			dlki_push(e);
	}
	pthread_setcancelstate(state, &state);
	return w->done;
}

void dlki_drive_sleep(struct dlki_engine *e, dlk_time until)
{
	struct dlki_waiter w;

	dlki_waiter_init(&w);
	w.idle = 1;
	(void)dlki_drive(e, &w, until);
}

void dlki_drive_start(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;

	dlki_push(e);
	if (d->leader)
		return;
	d->left = 0;
	attend(d, 1);
}

/* Work left over by a turn makes the set's descriptor readable again.  The push
 * tells another thread when the next alarm is due: this thread does not wait
 * for it. */
static void turn_and_go(struct dlki_engine *e, enum dlki_set set)
{
	dlki_turn(e, DLKI_BIT(set), 0);
	if (dlki_links_have_work(e, DLKI_BIT(set)))
		e->world->type->kick(e->world, set);
	dlki_push(e);
}

void dlki_drive_pump(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;
	struct dlki_waiter w;

	if (!d || d->sets != DLKI_ALL_SETS) {
		turn_and_go(e, DLKI_NEWS);
	} else if (!d->leader) {
		d->leader = &d->self;
		turn_and_go(e, DLKI_NEWS);
		hand_over(e);
	} else { /* The leader takes the news in. */
		dlki_waiter_init(&w);
		w.idle = w.pumps = 1;
		(void)dlki_drive(e, &w, now(e) + LOOK_NS);
	}
}

/* ---- dlock-loop ---------------------------------------------------------- */

static void lead(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;

	d->leader = &d->self;
	attend(d, 1);
	turn_and_go(e, DLKI_ANSWERS);
	hand_over(e);
}

/* A waiter leads, or has just led: dlock-loop looks again soon.  Alarms ring
 * meanwhile, but for work that is left to a leader in the midst of a turn. */
static void stand_by(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;

	if (!d->leader) {
		nudge(e, now(e) + LOOK_NS);
		d->left = 0;
	}
	dlki_push(e);
	if (!d->leader || d->look_at > e->now)
		return;
	d->look_at = DLK_FOREVER;
	nudge(e, e->now + LOOK_NS);
}

static void ready(struct dlki_source *source)
{
	struct dlki_drive *d = DLKI_CONTAINER_OF(source, struct dlki_drive,
						 source);
	struct dlki_engine *e = d->engine;

	pthread_mutex_lock(&e->mu);
	d->look_at = DLK_FOREVER;
	if (d->leader || d->left)
		stand_by(e);
	else
		lead(e);
	dlki_unlock(e);
}

static void free_drive(struct dlki_drive *d)
{
	dlki_source_leave(&d->source);
	dlki_waiters_destroy(&d->waiters);
	free(d);
}

/* 0, or an errno value. */
static int join(struct dlki_engine *e, struct dlki_drive *d,
		struct dlki_attendant *own)
{
	int rc;

	d->source.ready = ready;
	d->sets = own ? DLKI_ALL_SETS : DLKI_BIT(DLKI_ANSWERS);
	d->engine = e;
	rc = dlki_source_join(&d->source, own);
	if (rc == 0)
		rc = dlki_source_set_fd(&d->source,
					dlki_real_fd(e->world, DLKI_ANSWERS));
	return rc;
}

int dlki_drive_begin(struct dlki_engine *e, struct dlki_attendant *own,
		     struct dlk_error *err)
{
	struct dlki_drive *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return dlki_nomem(err);
	dlki_waiter_init(&d->self);
	dlki_waiters_init(&d->waiters);
	d->look_at = DLK_FOREVER;
	rc = join(e, d, own);
	if (rc != 0) {
		free_drive(d);
		return dlki_system(err, rc, "starting a thread");
	}
	pthread_mutex_lock(&e->mu);
	e->drive = d;
	e->nudge = nudge;
	e->wake = signal_due;
	nudge(e, e->now);
	pthread_mutex_unlock(&e->mu);
	return 0;
}

/* A call of dlock-loop under way ends first. */
void dlki_drive_end(struct dlki_engine *e)
{
	struct dlki_drive *d;

	if (dlki_lock(e) != 0)
		return;
	d = e->drive;
	dlki_unlock(e);
	dlki_source_leave(&d->source);
	pthread_mutex_lock(&e->mu);
	e->drive = NULL;
	e->nudge = NULL;
	pthread_mutex_unlock(&e->mu);
	free_drive(d);
}
