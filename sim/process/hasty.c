/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/hasty.h"

#include <dlock/async.h>
#include <poll.h>

#include "sim/process/sched.h"
#include "sim/process/stage.h"
#include "sim/process/use.h"

enum { MOST_WAITS = 10000, CLOSE_MS = 2000 };

/* ---- A sticky cancel ----------------------------------------------------- */

struct canceller {
	dlock_lock *lock;
	int64_t after_ns;
	int over;
};

static void *cancel(void *arg)
{
	struct canceller *c = arg;

	sim_nap(c->after_ns);
	dlock_cancel(c->lock);
	c->over = 1;
	return NULL;
}

/* Wait once.  Returns whether the cancel has ended the wait. */
static int wait_once(struct sim_use *u)
{
	int64_t ms = 1 + (int64_t)sim_caller_draw(u->by, "ms", 50);
	int rc = sim_use_acquire(u, ms);

	if (rc == DLOCK_OK) {
		sim_nap((int64_t)sim_caller_draw(u->by, "nap", 2000) * 1000);
		sim_use_release(u);
		u->hold = NULL;
	}
	return rc == DLOCK_ECANCELED;
}

/* The cancel meets no wait, and ends the next at once, also if the lock is
 * free.  A try is no wait. */
static int cancel_before(struct sim_use *u)
{
	int64_t begun, stalled;
	int rc;

	dlock_cancel(u->lock);
	u->may_cancel = 0;
	if (sim_use_acquire(u, 0) == DLOCK_OK)
		sim_use_release(u);
	u->hold = NULL;
	u->may_cancel = 1;
	begun = sim_sched_now();
	stalled = sim_sched_stalled();
	rc = sim_use_acquire(u, 50);
	if (rc == DLOCK_OK)
		sim_sched_fail("a sticky cancel is forgotten");
	if (rc == DLOCK_ECANCELED && sim_sched_stalled() == stalled &&
	    sim_sched_now() - begun > SIM_MS)
		sim_sched_fail("a cancelled wait goes on for %d ms",
			       (int)((sim_sched_now() - begun) / SIM_MS));
	return rc == DLOCK_ECANCELED;
}

static int cancel_beside(struct sim_use *u)
{
	struct canceller c = {
		.lock = u->lock,
		.after_ns = (int64_t)sim_caller_draw(u->by, "cancel", 20000) *
			    1000,
	};
	pthread_t thread;
	int ended = 0;

	if (pthread_create(&thread, NULL, cancel, &c) != 0)
		sim_sched_fail("no thread");
	while (!c.over && !ended) {
		ended = wait_once(u);
		sim_nap(SIM_MS / 10);
	}
	pthread_join(thread, NULL);
	return ended;
}

void sim_caller_cancel_early(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	struct sim_use u = sim_use_draw(me);
	int ended;

	u.lock = sim_stage_lock_of(p, p->client[me->client],
				   (size_t)(u.name - p->names), 0);
	u.may_cancel = 1;
	sim_stage_must("dlock_lock_sticky_cancel",
		       dlock_lock_sticky_cancel(u.lock));
	if (sim_caller_draw(me, "before", 2) == 0)
		ended = cancel_before(&u);
	else
		ended = cancel_beside(&u);
	/* Memory may be scarce before a wait looks for the cancel. */
	for (int i = 0; i < MOST_WAITS && !ended; i++) {
		ended = wait_once(&u);
		sim_nap(SIM_MS);
	}
	if (!ended)
		sim_sched_fail("a sticky cancel ends no wait");
	u.may_cancel = 0;
	(void)wait_once(&u);
	dlock_lock_free(u.lock);
}

/* ---- A close beside a thread that processes ------------------------------ */

/* Each of two threads is in a call of the client, or looks whether the client
 * is still there. */
struct closing {
	dlock_client *client;
	int fd; /* the client's */
	pthread_t second;
	int64_t wait_ms;
	int in[2];
	int over;
};

/* The client is gone when this returns: the other thread makes no call. */
static void note_closed(const struct dlock_result *r, void *arg)
{
	struct closing *c = arg;
	int other = !pthread_equal(pthread_self(), c->second);

	sim_stage_must("a close beside a thread", r->code);
	c->over++;
	while (c->in[other])
		sim_nap(SIM_MS / 10);
}

static void *process(void *arg)
{
	struct closing *c = arg;
	struct pollfd due = { .fd = c->fd, .events = POLLIN };

	while (!c->over) {
		int rc;

		c->in[1] = 1;
		(void)poll(&due, 1, 1);
		rc = dlock_process(c->client, 1);
		c->in[1] = 0;
		if (rc == DLOCK_EBUSY)
			sim_nap(SIM_MS / 10);
		else if (rc < 0)
			sim_unexpected("dlock_process", rc);
	}
	return NULL;
}

static void await(struct closing *c)
{
	while (!c->over) {
		int rc;

		c->in[0] = 1;
		rc = dlock_wait(c->client, c->wait_ms);
		c->in[0] = 0;
		if (rc == DLOCK_EBUSY || rc == DLOCK_ECANCELED)
			sim_nap(SIM_MS / 10);
		else if (rc < 0)
			sim_unexpected("dlock_wait", rc);
	}
	if (c->over != 1)
		sim_sched_fail("a close came %d times", c->over);
}

void sim_hasty_close(const struct sim_play *p, dlock_client *c)
{
	struct closing closing = {
		.client = c,
		.fd = dlock_client_fd(c),
		.wait_ms = sim_draw(p->chance, "wait", 2) ? 10 : DLOCK_FOREVER,
	};
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc, tries = 0;

	if (pthread_create(&closing.second, NULL, process, &closing) != 0)
		sim_sched_fail("no thread");
	do {
		rc = dlock_close_start(c, note_closed, &closing);
	} while (sim_again(p, rc, &tries));
	sim_stage_must("dlock_close_start", rc);
	await(&closing);
	sim_judge_returned("a close beside a thread", begun, stalled, CLOSE_MS);
	pthread_join(closing.second, NULL);
}
