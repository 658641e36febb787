/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades, and questions and a close that end in a callback. */
#include "torture/torture.h"

/* ---- Upgrades ------------------------------------------------------------ */

static void upgrade(struct play *p, dlock_client *c, dlock_lock *l,
		    dlock_hold *read)
{
	struct answer up = { 0 };
	dlock_hold *write = NULL;

	if (MAY(p, dlock_upgrade(l, read, 2000, &write), DLOCK_OK))
		release(p, write);
	if (MAY(p, dlock_upgrade_start(l, read, 2000, answered, &up, NULL),
		DLOCK_OK) &&
	    MAY(p, outcome(p, c, &up), DLOCK_OK))
		give_back(p, c, up.hold);
}

void play_upgrade(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_lock *rw = NULL, *l = NULL;
	dlock_hold *read = NULL;

	if (c && (dlock_caps(c) & DLOCK_CAP_UPGRADE) &&
	    MAY(p, dlock_rwlock_new(&rw, c, "rw"), DLOCK_OK) &&
	    MAY(p, dlock_lock_unbind(rw), DLOCK_OK) &&
	    MAY(p, dlock_upgradeable_new(&l, rw), DLOCK_OK) &&
	    MAY(p, dlock_acquire(l, 2000, &read), DLOCK_OK))
		upgrade(p, c, l, read);
	release(p, read);
	dlock_lock_free(l);
	dlock_lock_free(rw);
	dlock_close(c);
}

/* ---- Questions ----------------------------------------------------------- */

static void see_nobody(const struct dlock_participant *participant, void *arg)
{
	(void)participant;
	(void)arg;
}

static void ask(struct play *p, dlock_client *c, dlock_lock *l)
{
	struct answer seen = { 0 }, broken = { 0 };
	dlock_hold *h = NULL;

	if ((dlock_caps(c) & DLOCK_CAP_RESIZE) &&
	    MAY(p, dlock_acquire(l, 2000, &h), DLOCK_OK))
		MAY(p, dlock_semaphore_resize(l, 4, 2000), DLOCK_OK);
	release(p, h);
	if (MAY(p, dlock_inspect_start(l, see_nobody, 2000, answered, &seen),
		DLOCK_OK))
		MAY(p, outcome(p, c, &seen), DLOCK_OK);
	if (MAY(p, dlock_break_start(l, 2000, answered, &broken), DLOCK_OK))
		MAY(p, outcome(p, c, &broken), DLOCK_OK);
}

void play_async_questions(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_lock *l = NULL;

	if (c && MAY(p, dlock_semaphore_new(&l, c, "s", 3), DLOCK_OK))
		ask(p, c, l);
	dlock_lock_free(l);
	dlock_close(c);
}

/* ---- Opening and closing ------------------------------------------------- */

void play_async_open(struct play *p)
{
	struct answer opened = { 0 };
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;

	o.once = 1; /* else the open bridges a single failure */
	if (!MAY(p, dlock_open_start(p->uri, &o, &c, answered, &opened),
		 DLOCK_OK))
		MUST(p, c == NULL);
	else
		MAY(p, outcome(p, c, &opened), DLOCK_OK);
	dlock_close(c);
}

/* A call waits when the close begins. */
void play_async_close(struct play *p)
{
	struct answer waiting = { 0 }, closed = { 0 };
	dlock_client *c = open_it(p);
	dlock_lock *l = NULL;
	dlock_hold *h = NULL;

	if (!c)
		return;
	if (MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_lock_unbind(l), DLOCK_OK) &&
	    MAY(p, dlock_acquire(l, 2000, &h), DLOCK_OK))
		MAY(p, dlock_acquire_start(l, -1, answered, &waiting, NULL),
		    DLOCK_OK);
	if (MAY(p, dlock_close_start(c, answered, &closed), DLOCK_OK)) {
		while (closed.over == 0)
			(void)dlock_wait(c, 100);
	} else {
		dlock_close(c);
	}
	if (h)
		MAY(p, dlock_release(h), DLOCK_ELOST);
	dlock_lock_free(l);
}
