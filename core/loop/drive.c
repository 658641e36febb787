/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/drive.h"

#include <dlock/backend.h>
#include <stdlib.h>

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

/* dlock-loop's waits: for a set, and in ANSWERS for the next look. */
struct attended {
	struct dlki_source source;
	struct dlki_engine *engine;
};

/* All under the engine's mutex. */
struct dlki_drive {
	struct attended of[DLKI_SETS];
	struct dlki_waiter self; /* dlock-loop, as a leader; of both sets */
	struct dlki_waiter *leader[DLKI_SETS]; /* or NULL */
	struct dlki_waiters waiters;
	unsigned int pumped;   /* sets not led by dlock-loop */
	unsigned int attended; /* sets polled by dlock-loop */
	int left[DLKI_SETS];   /* a waiter has led since dlock-loop's last look,
			      * and no successor was there */
	dlk_time look_at;      /* when dlock-loop looks next */
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
	if (e->drive->leader[w->set] == w && e->in_wait[w->set])
		e->world->type->kick(e->world, w->set);
}

void dlki_waiter_done(struct dlki_engine *e, struct dlki_waiter *w)
{
	w->done = 1;
	rouse(e, w);
}

void dlki_drive_rouse(struct dlki_engine *e)
{
	if (dlki_lock(e) != 0)
		return;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		struct dlki_waiter *w;

		TAILQ_FOREACH(w, &e->drive->waiters.of[set], in_set) {
			if (dlki_patience_cancelled(w->patience))
				rouse(e, w);
		}
	}
	dlki_unlock(e);
}

/* ---- The role ------------------------------------------------------------ */

/* dlock-loop polls the set while no other thread leads. */
static void attend(struct dlki_drive *d, enum dlki_set set, int on)
{
	unsigned int bit = DLKI_BIT(set);

	if (!(d->attended & bit) == !on)
		return;
	d->attended ^= bit;
	dlki_source_listen(&d->of[set].source, on);
}

static void begin_to_lead(struct dlki_drive *d, struct dlki_waiter *w)
{
	d->leader[w->set] = w;
	attend(d, w->set, 0);
}

/* The leader of the set leaves.  A done waiter is about to leave itself, and
 * cannot succeed. */
static void hand_over(struct dlki_engine *e, enum dlki_set set)
{
	struct dlki_drive *d = e->drive;
	struct dlki_waiter *w = TAILQ_FIRST(&d->waiters.of[set]);

	while (w && w->done)
		w = TAILQ_NEXT(w, in_set);
	d->leader[set] = NULL;
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
		d->left[DLKI_ANSWERS] = d->left[DLKI_NEWS] = 0;
	if (d->look_at <= at)
		return;
	d->look_at = at;
	dlki_source_at(&d->of[DLKI_ANSWERS].source, at);
}

static void leave(struct dlki_engine *e, struct dlki_waiter *w)
{
	struct dlki_drive *d = e->drive;

	TAILQ_REMOVE(&d->waiters.of[w->set], w, in_set);
	if (d->leader[w->set] != w)
		return;
	hand_over(e, w->set);
	if (!d->leader[w->set]) {
		d->left[w->set] = 1;
		nudge(e, e->now + LOOK_NS);
	}
}

static dlk_time deadline_of(const struct dlki_waiter *w, dlk_time deadline)
{
	if (w->idle && dlki_patience_cancelled(w->patience))
		return 0;
	return dlk_deadline(deadline);
}

static void lead_or_follow(struct dlki_engine *e, struct dlki_waiter *w,
			   dlk_time deadline)
{
	struct dlki_drive *d = e->drive;
	dlk_time until = deadline_of(w, deadline);
	dlk_time at = e->now; /* of the push */

	TAILQ_INSERT_TAIL(&d->waiters.of[w->set], w, in_set);
	while (!w->done && at < until) {
		if (!d->leader[w->set])
			begin_to_lead(d, w);
		if (d->leader[w->set] == w) {
			dlki_turn_for_answer(e, w->set, until);
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

	dlki_waiter_init(&w, DLKI_ANSWERS);
	w.idle = 1;
	(void)dlki_drive(e, &w, until);
}

void dlki_drive_start(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;

	dlki_push(e);
	if (d->leader[DLKI_ANSWERS])
		return;
	d->left[DLKI_ANSWERS] = 0;
	attend(d, DLKI_ANSWERS, 1);
}

/* Work left over by a turn makes the set's descriptor readable again.  The push
 * tells another thread when the next alarm is due: this thread does not wait
 * for it. */
static void turn_and_go(struct dlki_engine *e, unsigned int sets)
{
	dlki_turn(e, sets, 0);
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if ((sets & DLKI_BIT(set)) &&
		    dlki_links_have_work(e, DLKI_BIT(set)))
			e->world->type->kick(e->world, (enum dlki_set)set);
	}
	dlki_push(e);
}

void dlki_drive_pump(struct dlki_engine *e, enum dlki_set set)
{
	turn_and_go(e, DLKI_BIT(set));
}

/* ---- dlock-loop ---------------------------------------------------------- */

/* Sets to lead: without a leader now, nor since the last look.  When a waiter
 * has just led, dlock-loop looks again soon. */
static unsigned int look(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;
	unsigned int sets = 0;

	d->look_at = DLK_FOREVER;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (d->leader[set] || (d->pumped & DLKI_BIT(set)))
			continue;
		if (d->left[set])
			nudge(e, now(e) + LOOK_NS);
		else
			sets |= DLKI_BIT(set);
		d->left[set] = 0;
	}
	return sets;
}

static void lead(struct dlki_engine *e, unsigned int sets)
{
	struct dlki_drive *d = e->drive;

	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (!(sets & DLKI_BIT(set)))
			continue;
		d->leader[set] = &d->self;
		attend(d, (enum dlki_set)set, 1);
	}
	turn_and_go(e, sets);
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set))
			hand_over(e, (enum dlki_set)set);
	}
}

/* A leader in the midst of a turn does what is left to do now. */
static void leave_to_leaders(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;

	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (!d->leader[set] && !(d->pumped & DLKI_BIT(set)))
			return;
	}
	if (d->look_at > e->now)
		return;
	d->look_at = DLK_FOREVER;
	nudge(e, e->now + LOOK_NS);
}

/* Alarms ring also while every set has a leader, or had just now. */
static void ready(struct dlki_source *source)
{
	struct dlki_engine *e = ((struct attended *)source)->engine;
	unsigned int sets;

	pthread_mutex_lock(&e->mu);
	sets = look(e);
	if (sets) {
		lead(e, sets);
	} else {
		dlki_push(e);
		leave_to_leaders(e);
	}
	dlki_unlock(e);
}

static void free_drive(struct dlki_drive *d)
{
	for (unsigned int set = 0; set < DLKI_SETS; set++)
		dlki_source_leave(&d->of[set].source);
	dlki_waiters_destroy(&d->waiters);
	free(d);
}

/* 0, or an errno value. */
static int join(struct dlki_engine *e, struct dlki_drive *d, unsigned int sets)
{
	int rc = 0;

	for (unsigned int set = 0; set < DLKI_SETS && rc == 0; set++) {
		struct attended *of = &d->of[set];

		of->source.ready = ready;
		of->engine = e;
		if (sets & DLKI_BIT(set))
			rc = dlki_source_join(&of->source);
		if (rc == 0)
			rc = dlki_source_set_fd(
				&of->source,
				dlki_real_fd(e->world, (enum dlki_set)set));
	}
	return rc;
}

int dlki_drive_begin(struct dlki_engine *e, unsigned int sets,
		     struct dlk_error *err)
{
	struct dlki_drive *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return dlki_nomem(err);
	dlki_waiter_init(&d->self, DLKI_ANSWERS);
	dlki_waiters_init(&d->waiters);
	d->pumped = DLKI_ALL_SETS & ~sets;
	d->look_at = DLK_FOREVER;
	rc = join(e, d, sets);
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
	for (unsigned int set = 0; set < DLKI_SETS; set++)
		dlki_source_leave(&d->of[set].source);
	pthread_mutex_lock(&e->mu);
	e->drive = NULL;
	e->nudge = NULL;
	pthread_mutex_unlock(&e->mu);
	free_drive(d);
}
