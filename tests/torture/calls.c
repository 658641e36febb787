/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that end in a callback, and holds that others want. */
#include "torture/torture.h"

#include <string.h>

#include "support/wait.h"

/* ---- Asynchronous calls -------------------------------------------------- */

void answered(const struct dlock_result *r, void *arg)
{
	struct answer *a = arg;

	a->over++;
	a->rc = r->code;
	a->hold = r->hold;
}

int outcome(struct play *p, dlock_client *c, struct answer *a)
{
	int64_t end = now_ms() + patience_ms();

	while (a->over == 0 && now_ms() < end) {
		if (dlock_wait(c, 100) < 0)
			nap_ms(1);
		(void)dlock_process(c, 0);
	}
	MUST(p, a->over == 1);
	return a->rc;
}

void give_back(struct play *p, dlock_client *c, dlock_hold *h)
{
	struct answer over = { 0 };

	if (MAY(p, dlock_release_start(h, answered, &over), DLOCK_OK))
		MAY(p, outcome(p, c, &over), DLOCK_OK);
	else
		release(p, h);
}

/* The second call waits for the first, and is cancelled. */
void play_async(struct play *p)
{
	struct answer first = { 0 }, second = { 0 };
	dlock_client *c = open_it(p);
	dlock_op op = 0;
	dlock_lock *l = NULL;

	if (!c)
		return;
	if (MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_lock_unbind(l), DLOCK_OK) &&
	    MAY(p, dlock_acquire_start(l, -1, answered, &first, NULL),
		DLOCK_OK) &&
	    MAY(p, outcome(p, c, &first), DLOCK_OK)) {
		if (MAY(p, dlock_acquire_start(l, -1, answered, &second, &op),
			DLOCK_OK)) {
			MAY(p, dlock_cancel_op(c, op), DLOCK_OK);
			MAY(p, outcome(p, c, &second), DLOCK_ECANCELED);
		}
		give_back(p, c, first.hold);
	}
	dlock_lock_free(l);
	dlock_close(c);
}

/* The second call waits for the first's lock, and holds no other lock then. */
static void ask_for_all(struct play *p, dlock_client *c, dlock_lock *all,
			dlock_lock *some)
{
	struct answer first = { 0 }, second = { 0 }, third = { 0 };
	dlock_op op = 0;

	if (!MAY(p, dlock_acquire_start(some, 2000, answered, &first, NULL),
		 DLOCK_OK) ||
	    !MAY(p, outcome(p, c, &first), DLOCK_OK))
		return;
	if (MAY(p, dlock_acquire_start(all, -1, answered, &second, &op),
		DLOCK_OK)) {
		MAY(p, dlock_cancel_op(c, op), DLOCK_OK);
		MAY(p, outcome(p, c, &second), DLOCK_ECANCELED);
	}
	give_back(p, c, first.hold);
	if (MAY(p, dlock_acquire_start(all, 2000, answered, &third, NULL),
		DLOCK_OK) &&
	    MAY(p, outcome(p, c, &third), DLOCK_OK))
		give_back(p, c, third.hold);
}

void play_async_multi(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_lock *l[3] = { NULL }, *all = NULL, *some = NULL;

	if (c && MAY(p, dlock_mutex_new(&l[0], c, "x"), DLOCK_OK) &&
	    MAY(p, dlock_mutex_new(&l[1], c, "y"), DLOCK_OK) &&
	    MAY(p, dlock_semaphore_new(&l[2], c, "x", 2), DLOCK_OK) &&
	    MAY(p, dlock_lock_unbind(l[0]), DLOCK_OK) &&
	    MAY(p, dlock_lock_unbind(l[1]), DLOCK_OK) &&
	    MAY(p, dlock_multi_new(&all, l, 3), DLOCK_OK) &&
	    MAY(p, dlock_multi_new(&some, l + 1, 2), DLOCK_OK))
		ask_for_all(p, c, all, some);
	dlock_lock_free(all);
	dlock_lock_free(some);
	for (int i = 0; i < 3; i++)
		dlock_lock_free(l[i]);
	dlock_close(c);
}

/* ---- Holds that others want ---------------------------------------------- */

/* The first request for wants opens the channel of wants, or a later request
 * does.  No call returns the reason of a failure there. */
static int asked(const struct play *p, int rc)
{
	int untold = rc < 0 && strstr(dlock_errmsg(), "inotify");

	return untold ? p->codes[0] : rc;
}

static void see_wanted(struct play *p, dlock_hold *h, dlock_lock *l)
{
	int fd;

	MAY(p, asked(p, dlock_revocable(h)), DLOCK_OK);
	fd = dlock_wanted_fd(h);
	may(p, "dlock_wanted_fd(h)", fd < 0 ? asked(p, fd) : DLOCK_OK,
	    DLOCK_OK);
	MAY(p, dlock_revoke(l, 2000), DLOCK_OK);
}

void play_wanted(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_lock *l = NULL;
	dlock_hold *h = NULL;

	if (c && (dlock_caps(c) & DLOCK_CAP_WANTED) &&
	    MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_acquire(l, 2000, &h), DLOCK_OK))
		see_wanted(p, h, l);
	release(p, h);
	dlock_lock_free(l);
	dlock_close(c);
}

/* ---- Holds with options of their own ------------------------------------- */

void play_options(struct play *p)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	struct answer a = { 0 };
	dlock_client *c = open_it(p);
	dlock_lock *l = NULL;
	dlock_hold *h = NULL;

	o.timeout_ms = 2000;
	o.max_hold_ms = 60000;
	o.label = "torture";
	if (c && MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_lock_unbind(l), DLOCK_OK) &&
	    MAY(p, dlock_acquire_opts(l, &o, &h), DLOCK_OK)) {
		MAY(p, dlock_extend(h, 30000), DLOCK_OK);
		release(p, h);
		if (MAY(p, dlock_acquire_opts_start(l, &o, answered, &a, NULL),
			DLOCK_OK) &&
		    MAY(p, outcome(p, c, &a), DLOCK_OK))
			give_back(p, c, a.hold);
	}
	dlock_lock_free(l);
	dlock_close(c);
}
