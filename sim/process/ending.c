/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/ending.h"

#include <stdio.h>

#include "sim/process/scene.h"
#include "sim/process/sched.h"
#include "sim/process/stage.h"
#include "sim/process/use.h"
#include "sim/process/waiting.h"

#define TOLD_MS 100

/* A time in which all leases end, and no claim stands any more. */
static int64_t long_ns(const struct sim_play *p)
{
	int64_t ttl_ms = p->terms.ttl_ms;

	if (ttl_ms < SIM_TTL_MS)
		ttl_ms = SIM_TTL_MS;
	return (3 * ttl_ms + p->terms.linger_ms) * SIM_MS;
}

/* Do the clients say that the store has no claim of theirs? */
static int is_settled(struct sim_play *p)
{
	struct dlock_stats stats = { .size = sizeof(stats) };

	for (size_t i = 0; i < p->n_clients; i++) {
		sim_stage_must("dlock_get_stats",
			       dlock_get_stats(p->client[i], &stats));
		if (stats.holds + stats.waiters + stats.kept +
			    stats.pending_cleanups >
		    0)
			return 0;
	}
	return 1;
}

/* Does the server say that others have the lock? */
static int is_busy(dlock_lock *l)
{
	dlock_hold *h;
	int rc = dlock_acquire(l, 0, &h);

	if (rc == DLOCK_OK)
		(void)dlock_release(h);
	else if (rc != DLOCK_EBUSY && rc != DLOCK_EUNREACHABLE)
		sim_stage_must("a stranger's acquire", rc);
	return rc == DLOCK_EBUSY;
}

static enum sim_claim claim(const struct sim_play *p, size_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "name%zu", n);
	return p->terms.scene->claim(text, p->names[n].kind == SIM_PERMITS);
}

/* The store has a claim for a third of a lease longer than a client knows, if
 * the request was late; and for a lease after the close of a client that was
 * cut off. */
static void await_leases(const struct sim_play *p)
{
	int64_t ttl_ns = p->terms.ttl_ms * SIM_MS, now = sim_sched_now();
	int64_t visits_end = p->visited_at + ttl_ns;

	sim_sched_wait(SIM_SLEEP, NULL,
		       (visits_end > now ? visits_end : now) + ttl_ns / 3);
}

/* A lock without a holder goes to another client at once.  The way there is
 * free. */
static void take_as_stranger(struct sim_play *p)
{
	if (sim_stage_open(p, SIM_CLIENTS, p->terms.ports) != DLOCK_OK)
		return;
	for (size_t n = 0; n < p->n_names; n++) {
		dlock_lock *l = sim_stage_lock(p, SIM_CLIENTS, n, 0);
		int busy = is_busy(l);

		if (busy)
			await_leases(p);
		if (busy && is_busy(l) && !p->terms.scene->is_late() &&
		    claim(p, n) != SIM_EXPIRED)
			sim_sched_fail("name%zu is busy without a holder: %s",
				       n, dlock_errmsg());
		dlock_lock_free(l);
	}
	sim_stage_unattend(p, SIM_CLIENTS);
	dlock_close(p->client[SIM_CLIENTS]);
}

static void look_for_claims(struct sim_play *p)
{
	if (p->terms.scene->is_late())
		return;
	for (size_t n = 0; n < p->n_names; n++) {
		if (claim(p, n) == SIM_STANDS)
			sim_sched_fail("a claim to name%zu is left in the "
				       "store",
				       n);
	}
}

static void no_more_stalls(struct sim_play *p)
{
	struct sim_sched_weather w = p->terms.sched;

	w.stall_rate = w.stop_rate = 0;
	sim_sched_weather(&w);
}

/* When the clients count no claim in the store, the store has no claim, nor
 * later, when bytes arrive that are under way.  A closed client does not
 * count. */
void sim_ending_subside(struct sim_play *p)
{
	int64_t until = sim_sched_now() + 2 * long_ns(p);

	if (!p->terms.scene->subside || p->terms.closes)
		return;
	no_more_stalls(p);
	p->terms.scene->subside();
	while (!is_settled(p)) {
		if (sim_sched_now() > until)
			sim_sched_fail("a claim is left in a client");
		sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + SIM_MS);
	}
	take_as_stranger(p);
	await_leases(p);
	for (int64_t ms = p->terms.ttl_ms; ms > 0; ms--) {
		look_for_claims(p);
		sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + SIM_MS);
	}
}

/* All holds are released, and the sessions stand. */
void sim_ending_look_at_server(struct sim_play *p)
{
	const char *(*left)(void) = p->terms.scene->left;

	if (!left)
		return;
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + long_ns(p));
	if (left())
		sim_sched_fail("%s is left", left());
}

static void no_participant(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	sim_sched_fail("a %s is left in the store",
		       p->waiting ? "waiter" : "holder");
}

static void take_once(dlock_lock *l)
{
	dlock_hold *h;

	sim_stage_must("dlock_acquire", dlock_acquire(l, 0, &h));
	sim_stage_must("dlock_release", dlock_release(h));
}

static void note_wanted(dlock_hold *h, enum dlock_event event, const char *why,
			void *told)
{
	(void)h;
	(void)why;
	*(int *)told |= event == DLOCK_WANTED;
}

/* No client asks for the lock for two leases; then another client revokes. */
static void hold_for_leases(struct sim_play *p, size_t name, dlock_lock *l,
			    const int *told)
{
	dlock_lock *others = sim_stage_lock(p, 1, name, 0);
	dlock_hold *h;

	sim_stage_must("dlock_acquire", dlock_acquire(l, 0, &h));
	sim_stage_must("dlock_revocable", dlock_revocable(h));
	sim_sched_wait(SIM_SLEEP, NULL,
		       sim_sched_now() + 2 * p->terms.ttl_ms * SIM_MS);
	sim_stage_must("dlock_revoke", dlock_revoke(others, 1000));
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + TOLD_MS * SIM_MS);
	if (!*told)
		sim_sched_fail("a holder of two leases hears no revoke");
	sim_stage_must("dlock_release", dlock_release(h));
	dlock_lock_free(others);
}

/* An orphan stands until the lease ends. */
void sim_ending_look_at_store(struct sim_play *p)
{
	int told = 0;
	dlock_options opts = { .size = sizeof(opts),
			       .on_event = note_wanted,
			       .arg = &told };
	dlock_client **c = p->client;

	no_more_stalls(p);
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + long_ns(p));
	sim_stage_must("dlock_open", dlock_open(&c[0], p->terms.plain, &opts));
	sim_stage_must("dlock_open", dlock_open(&c[1], p->terms.plain, NULL));
	for (size_t n = 0; n < p->n_names; n++) {
		dlock_lock *l = sim_stage_lock(p, 0, n, 0), *upgradeable;

		sim_stage_must("dlock_inspect",
			       dlock_inspect(l, no_participant, NULL, 1000));
		take_once(l);
		if (p->terms.revocable && sim_can_revoke(c[0], &p->names[n]))
			hold_for_leases(p, n, l, &told);
		told = 0;
		sim_waiting_for_leases(p, n);
		upgradeable = sim_stage_upgradeable(p, l, n);
		if (upgradeable)
			take_once(upgradeable);
		dlock_lock_free(upgradeable);
		dlock_lock_free(l);
	}
	dlock_close(c[1]);
	dlock_close(c[0]);
}
