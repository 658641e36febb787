/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/drive.h"

#include <dlock/backend_net.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/loop/links.h"
#include "core/loop/state.h"
#include "core/loop/traffic.h"

/* How often the loop's own thread looks while callers come and go. */
#define LOOK_NS (10 * DLK_MS)

/* A bit each in the engine's `due`. */
enum { CONDS = 64 };

/* All under the engine's mutex. */
struct dlki_drive {
	pthread_t thread;
	struct dlki_waiter self; /* the thread, as a leader; of both sets */
	struct dlki_waiter *leader[DLKI_SETS]; /* or NULL */
	struct dlki_waiter *first[DLKI_SETS], *last[DLKI_SETS];
	pthread_cond_t conds[CONDS];
	unsigned int asleep[CONDS]; /* threads on each */
	unsigned int shared;        /* the next to share */
	unsigned int pumped;        /* sets that the thread does not lead */
	int stop;
	int left[DLKI_SETS]; /* a waiter has led since the thread's last look,
			      * and no successor was there */
	int served;          /* the thread's turn has ended a wait */
	dlk_time look_at;    /* when the thread looks next; 0: it is about to */
};

static dlk_time now(const struct dlki_engine *e)
{
	return e->world->type->now(e->world);
}

/* ---- Waiters ------------------------------------------------------------- */

void dlki_waiter_init(struct dlki_waiter *w, enum dlki_set set)
{
	*w = (struct dlki_waiter){ .set = set };
}

static void enlist(struct dlki_drive *d, struct dlki_waiter *w)
{
	w->next = NULL;
	w->last = d->last[w->set];
	if (w->last)
		w->last->next = w;
	else
		d->first[w->set] = w;
	d->last[w->set] = w;
}

static void delist(struct dlki_drive *d, struct dlki_waiter *w)
{
	if (w->next)
		w->next->last = w->last;
	else
		d->last[w->set] = w->last;
	if (w->last)
		w->last->next = w->next;
	else
		d->first[w->set] = w->next;
}

static void rouse(struct dlki_engine *e, struct dlki_waiter *w)
{
	if (w->asleep)
		e->due |= UINT64_C(1) << w->cond;
	w->asleep = 0;
}

static void wake(struct dlki_engine *e, uint64_t conds)
{
	for (unsigned int i = 0; conds != 0; i++, conds >>= 1) {
		if (conds & 1)
			pthread_cond_broadcast(&e->drive->conds[i]);
	}
}

/* A free condition, or one that several threads share: each looks what has
 * changed. */
static unsigned int choose_cond(struct dlki_drive *d)
{
	for (unsigned int i = 0; i < CONDS; i++) {
		if (d->asleep[i] == 0)
			return i;
	}
	return d->shared++ % CONDS;
}

static void sleep_until(struct dlki_engine *e, struct dlki_waiter *w,
			dlk_time until)
{
	struct dlki_drive *d = e->drive;
	uint64_t due = e->due;

	e->due = 0;
	wake(e, due);
	w->cond = choose_cond(d);
	d->asleep[w->cond]++;
	w->asleep = 1;
	dlk_cond_wait(&d->conds[w->cond], &e->mu, until);
	w->asleep = 0;
	d->asleep[w->cond]--;
}

void dlki_waiter_done(struct dlki_engine *e, struct dlki_waiter *w)
{
	struct dlki_drive *d = e->drive;

	w->done = 1;
	rouse(e, w);
	if (d->leader[w->set] == w && e->in_wait[w->set])
		e->world->type->kick(e->world, w->set);
	if (d->leader[w->set] == &d->self)
		d->served = 1;
}

/* ---- The role ------------------------------------------------------------ */

/* The leader of the set leaves.  A waiter that is done is about to leave
 * itself, and cannot succeed. */
static void hand_over(struct dlki_engine *e, enum dlki_set set)
{
	struct dlki_drive *d = e->drive;
	struct dlki_waiter *w = d->first[set];

	while (w && w->done)
		w = w->next;
	d->leader[set] = w;
	if (w)
		rouse(e, w);
}

static void kick_self(struct dlki_engine *e)
{
	const struct dlki_drive *d = e->drive;

	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (d->leader[set] == &d->self && e->in_wait[set]) {
			e->world->type->kick(e->world, (enum dlki_set)set);
			return;
		}
	}
}

/* The loop's own thread looks at `at`; now: it leads, though a waiter has led
 * just before. */
static void nudge(struct dlki_engine *e, dlk_time at)
{
	struct dlki_drive *d = e->drive;

	if (at <= e->now)
		d->left[DLKI_ANSWERS] = d->left[DLKI_NEWS] = 0;
	if (d->look_at <= at)
		return;
	d->look_at = at;
	if (d->self.asleep)
		rouse(e, &d->self);
	else
		kick_self(e);
}

static void leave(struct dlki_engine *e, struct dlki_waiter *w)
{
	struct dlki_drive *d = e->drive;

	delist(d, w);
	if (d->leader[w->set] != w)
		return;
	hand_over(e, w->set);
	if (!d->leader[w->set]) {
		d->left[w->set] = 1;
		nudge(e, now(e) + LOOK_NS);
	}
}

static void lead_or_follow(struct dlki_engine *e, struct dlki_waiter *w,
			   dlk_time deadline)
{
	struct dlki_drive *d = e->drive;

	enlist(d, w);
	while (!w->done && now(e) < deadline) {
		if (!d->leader[w->set])
			d->leader[w->set] = w;
		if (d->leader[w->set] == w)
			dlki_turn(e, DLKI_BIT(w->set), deadline);
		else
			sleep_until(e, w, deadline);
	}
	leave(e, w);
}

int dlki_drive(struct dlki_engine *e, struct dlki_waiter *w, dlk_time deadline)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	dlki_push(e);
	if (!w->done) {
		lead_or_follow(e, w, deadline);
		/* Late: the waiter's own alarms may be due as well, and the
		 * leader may be a thread that is stopped. */
		if (!w->done)
			dlki_push(e);
	}
	pthread_setcancelstate(state, &state);
	return w->done;
}

void dlki_drive_start(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;

	dlki_push(e);
	if (!d->leader[DLKI_ANSWERS])
		nudge(e, e->now);
}

/* The push tells a thread when the next alarm is due: this one does not wait
 * for it. */
void dlki_drive_pump(struct dlki_engine *e, enum dlki_set set)
{
	dlki_turn(e, DLKI_BIT(set), 0);
	if (dlki_links_have_work(e, DLKI_BIT(set)))
		e->world->type->kick(e->world, set);
	dlki_push(e);
}

/* ---- The loop's own thread ----------------------------------------------- */

/* Sets to lead: without a leader now, nor since the last look.  When a waiter
 * has just led, the thread looks again soon. */
static unsigned int look(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;
	unsigned int sets = 0;

	d->look_at = DLK_FOREVER;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (d->leader[set] || (d->pumped & DLKI_BIT(set)))
			continue;
		if (d->left[set])
			d->look_at = now(e) + LOOK_NS;
		else
			sets |= DLKI_BIT(set);
		d->left[set] = 0;
	}
	return sets;
}

/* Until the next look, or a waiter was served, or waits and can lead itself. */
static void lead(struct dlki_engine *e, unsigned int sets)
{
	struct dlki_drive *d = e->drive;
	int wanted = 0;

	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set))
			d->leader[set] = &d->self;
	}
	d->served = 0;
	do {
		dlki_turn(e, sets, d->look_at);
		for (unsigned int set = 0; set < DLKI_SETS; set++) {
			if ((sets & DLKI_BIT(set)) && d->first[set])
				wanted = 1;
		}
	} while (!d->stop && !d->served && !wanted && e->now < d->look_at);
	d->look_at = 0;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (!(sets & DLKI_BIT(set)))
			continue;
		hand_over(e, (enum dlki_set)set);
		/* The next caller leads. */
		d->left[set] = d->served && set == DLKI_ANSWERS;
	}
}

/* Every set has a leader, or had just now.  Alarms ring meanwhile. */
static void sleep_and_ring(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;
	dlk_time at = dlki_alarms_next(&e->alarms);

	if (at < d->look_at)
		d->look_at = at;
	sleep_until(e, &d->self, d->look_at);
	d->look_at = 0;
	dlki_push(e);
}

static void *loop_thread(void *arg)
{
	struct dlki_engine *e = arg;
	struct dlki_drive *d = e->drive;

	pthread_mutex_lock(&e->mu);
	while (!d->stop) {
		unsigned int sets = look(e);

		if (sets)
			lead(e, sets);
		else
			sleep_and_ring(e);
	}
	pthread_mutex_unlock(&e->mu);
	return NULL;
}

static void free_drive(struct dlki_engine *e)
{
	struct dlki_drive *d = e->drive;

	e->drive = NULL;
	e->nudge = NULL;
	for (int i = 0; i < CONDS; i++)
		pthread_cond_destroy(&d->conds[i]);
	free(d);
}

int dlki_drive_begin(struct dlki_engine *e, unsigned int sets,
		     struct dlk_error *err)
{
	struct dlki_drive *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return dlki_nomem(err);
	dlki_waiter_init(&d->self, DLKI_ANSWERS);
	for (int i = 0; i < CONDS; i++)
		dlk_cond_init(&d->conds[i]);
	d->pumped = DLKI_ALL_SETS & ~sets;
	pthread_mutex_lock(&e->mu);
	e->drive = d;
	e->nudge = nudge;
	e->wake = wake;
	pthread_mutex_unlock(&e->mu);
	rc = dlk_thread(&d->thread, "dlock-loop", loop_thread, e);
	if (rc == 0)
		return 0;
	free_drive(e);
	return dlki_system(err, rc, "pthread_create");
}

void dlki_drive_end(struct dlki_engine *e)
{
	struct dlki_drive *d;

	if (dlki_lock(e) != 0)
		return;
	d = e->drive;
	d->stop = 1;
	rouse(e, &d->self);
	kick_self(e);
	dlki_unlock(e);
	pthread_join(d->thread, NULL);
	free_drive(e);
}
