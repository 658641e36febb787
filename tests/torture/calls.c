/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that end in a callback, and holds that others want. */
#include "torture/torture.h"

#include <dlock/async.h>
#include <stdio.h>
#include <string.h>

#include "support/wait.h"

/* ---- Asynchronous calls -------------------------------------------------- */

/* Written by the callback, once. */
struct answer {
	pthread_mutex_t mu;
	int over, rc;
	dlock_hold *hold;
	char why[200];
};

#define NO_ANSWER                                                              \
	{                                                                      \
		.mu = PTHREAD_MUTEX_INITIALIZER                                \
	}

static void answered(int rc, dlock_hold *hold, void *arg)
{
	struct answer *a = arg;

	pthread_mutex_lock(&a->mu);
	a->over++;
	a->rc = rc;
	a->hold = hold;
	snprintf(a->why, sizeof(a->why), "%s", dlock_errmsg());
	pthread_mutex_unlock(&a->mu);
}

static int times_answered(struct answer *a)
{
	int n;

	pthread_mutex_lock(&a->mu);
	n = a->over;
	pthread_mutex_unlock(&a->mu);
	return n;
}

/* What it ended with; a call that does not end is a failure. */
static int outcome(struct play *p, struct answer *a)
{
	int64_t end = now_ms() + patience_ms();

	while (times_answered(a) == 0 && now_ms() < end)
		nap_ms(1);
	MUST(p, times_answered(a) == 1);
	return a->rc;
}

static void give_back(struct play *p, dlock_hold *h)
{
	struct answer over = NO_ANSWER;

	if (MAY(p, dlock_release_async(h, answered, &over), DLOCK_OK)) {
		int rc = outcome(p, &over);

		MAY(p, released(p, rc, over.why), DLOCK_OK);
	} else {
		release(p, h);
	}
}

/* The second one waits for the first, and is cancelled. */
void play_async(struct play *p)
{
	struct answer first = NO_ANSWER, second = NO_ANSWER;
	dlock_client *c = open_it(p);
	dlock_async *call = NULL;
	dlock_lock *l = NULL;

	if (!c)
		return;
	if (MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_acquire_async(l, -1, answered, &first, NULL),
		DLOCK_OK) &&
	    MAY(p, outcome(p, &first), DLOCK_OK)) {
		if (MAY(p, dlock_acquire_async(l, -1, answered, &second, &call),
			DLOCK_OK)) {
			dlock_async_cancel(call);
			MAY(p, outcome(p, &second), DLOCK_ECANCELED);
			dlock_async_free(call);
		}
		give_back(p, first.hold);
	}
	dlock_lock_free(l);
	dlock_close(c);
}

/* ---- Holds that others want ---------------------------------------------- */

/* What notifies is opened with the first that is asked for, on the side, and
 * tried again later.  What it was that failed there is told to nobody. */
static int asked(const struct play *p, int rc)
{
	int untold = rc < 0 && (strstr(dlock_errmsg(), "inotify") ||
				strstr(dlock_errmsg(), "channel"));

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
