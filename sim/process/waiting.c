/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/waiting.h"

#include <dlock/async.h>

#include "sim/process/stage.h"

enum { HOLDER, WAITER, MOST_PERMITS = 8 };

struct waiter {
	dlock_lock *lock;
	int reads;
	int is_begun; /* an asynchronous acquire */
	pthread_t thread;
	int granted;
	dlock_hold *hold; /* of an asynchronous acquire */
};

static void *wait_and_release(void *arg)
{
	struct waiter *w = arg;
	dlock_hold *h;

	sim_stage_must("an acquire of a waiter",
		       w->reads ? dlock_acquire_shared(w->lock, DLOCK_FOREVER,
						       &h) :
				  dlock_acquire(w->lock, DLOCK_FOREVER, &h));
	w->granted = 1;
	sim_stage_must("dlock_release", dlock_release(h));
	return NULL;
}

static void granted(const struct dlock_result *r, void *arg)
{
	struct waiter *w = arg;

	sim_stage_must("an acquire that was begun", r->code);
	w->granted = 1;
	w->hold = r->hold;
}

static void begin(struct waiter *w)
{
	if (!w->is_begun) {
		if (pthread_create(&w->thread, NULL, wait_and_release, w) != 0)
			sim_sched_fail("there is no thread");
	} else if (w->reads)
		sim_stage_must("dlock_acquire_shared_start",
			       dlock_acquire_shared_start(w->lock,
							  DLOCK_FOREVER,
							  granted, w, NULL));
	else
		sim_stage_must("dlock_acquire_start",
			       dlock_acquire_start(w->lock, DLOCK_FOREVER,
						   granted, w, NULL));
}

static void await_grant(struct sim_play *p, struct waiter *w)
{
	int64_t until = sim_sched_now() + p->terms.late_ms * SIM_MS;

	while (!w->granted) {
		if (sim_sched_now() > until)
			sim_sched_fail("a waiter of two leases is not granted");
		if (w->is_begun)
			dlock_wait(p->client[WAITER], 1);
		else
			sim_sched_wait(SIM_SLEEP, NULL,
				       sim_sched_now() + SIM_MS);
	}
	if (w->is_begun)
		sim_stage_must("dlock_release", dlock_release(w->hold));
	else
		pthread_join(w->thread, NULL);
}

/* Hold all permits, or the write side. */
static size_t hold_all(const struct sim_name *name, dlock_lock *l,
		       dlock_hold *h[MOST_PERMITS])
{
	size_t n = name->kind == SIM_PERMITS ? name->permits : 1;

	for (size_t i = 0; i < n; i++)
		sim_stage_must("dlock_acquire", dlock_acquire(l, 0, &h[i]));
	return n;
}

void sim_waiting_for_leases(struct sim_play *p, size_t name)
{
	const struct sim_name *of = &p->names[name];
	struct waiter w = {
		.is_begun = sim_draw(p->chance, "begun", 2) == 1,
		.reads = of->kind == SIM_READ_WRITE &&
			 sim_draw(p->chance, "reads", 2) == 1,
	};
	int64_t ttl_ms = p->terms.ttl_ms > 0 ? p->terms.ttl_ms : SIM_TTL_MS;
	dlock_lock *l = sim_stage_lock(p, HOLDER, name, 0);
	dlock_hold *h[MOST_PERMITS] = { NULL };
	size_t n = hold_all(of, l, h);

	w.lock = sim_stage_lock(p, WAITER, name, w.is_begun);
	begin(&w);
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + 2 * ttl_ms * SIM_MS);
	if (w.granted)
		sim_sched_fail("a waiter has a lock that is held");
	sim_stage_must("dlock_release", dlock_release(h[--n]));
	await_grant(p, &w);
	while (n > 0)
		sim_stage_must("dlock_release", dlock_release(h[--n]));
	dlock_lock_free(w.lock);
	dlock_lock_free(l);
}
