/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/fleet.h"

#include <stdio.h>

#include "sim/process/scene.h"
#include "sim/process/sched.h"
#include "sim/process/server.h"
#include "sim/process/stage.h"
#include "sim/process/use.h"

/* A server answers so soon, if there are no faults. */
enum { CALM_MS = 3000 };

/* The scheduler has room for the threads of so many. */
enum { NEWCOMERS = 20 };

static struct {
	pthread_t thread;
	int begun, ends;
} newcomers;

static int is_fleet(const struct sim_play *p)
{
	return p->terms.scene->learn_member != NULL;
}

/* ---- Clients ------------------------------------------------------------- */

/* Servers that are away have little time to answer. */
static int open_soon(const char *uri, dlock_client **out)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	char soon[sizeof(((struct sim_terms *)NULL)->uri) + 16];

	o.on_event = sim_ear_event;
	snprintf(soon, sizeof(soon), "%s&connect=1s", uri);
	return dlock_open(out, soon, &o);
}

/* All servers have a digest of the pool. */
static void see_other_pool_refused(const struct sim_play *p, int may_fail)
{
	dlock_client *c;
	int rc = open_soon(p->terms.other, &c);

	if (rc == DLOCK_OK)
		sim_sched_fail("a client with another pool was let in");
	if (rc != DLOCK_EINVAL && !(rc == DLOCK_EUNREACHABLE && may_fail))
		sim_unexpected("dlock_open with another pool", rc);
}

static void count_closed(struct sim_wire *w, void *n)
{
	*(size_t *)n += w->client < 0;
}

/* A closed client's request, still under way, gives the client's pool to a
 * server without a digest. */
static void wait_for_closed(void)
{
	for (size_t n = 1; n > 0;) {
		n = 0;
		sim_server_each(-1, -1, count_closed, &n);
		if (n > 0)
			sim_nap(SIM_MS / 10);
	}
}

/* ---- The beginning ------------------------------------------------------- */

static void learn(struct sim_play *p, size_t i)
{
	struct sim_name *name = &p->names[i];
	dlock_hold *h;
	char text[32];
	int member;

	snprintf(text, sizeof(text), "name%zu", i);
	sim_stage_must("dlock_acquire",
		       dlock_acquire(p->handles[0].lock[i], CALM_MS, &h));
	member = p->terms.scene->learn_member(text, name->kind == SIM_PERMITS);
	if (member < 0)
		sim_sched_fail("no server has a claim to %s", text);
	name->member = (size_t)member;
	name->is_well = (p->terms.well & 1U << member) != 0;
	name->is_far = (p->terms.far & 1U << member) != 0;
	(void)dlock_release(h);
	sim_sched_tell("server %d keeps %s, %p", member, text, (void *)name);
}

void sim_fleet_begin(struct sim_play *p)
{
	if (!is_fleet(p))
		return;
	for (size_t i = 0; i < p->n_names; i++)
		learn(p, i);
	see_other_pool_refused(p, 0);
	wait_for_closed();
}

/* ---- Newcomers ----------------------------------------------------------- */

/* A client opens if any server answers. */
static void open_and_close(const struct sim_play *p)
{
	dlock_client *c;
	int rc = open_soon(p->terms.uri, &c);
	int may_fail = p->terms.well != 0 ? p->terms.well_may_fail :
					    p->terms.may_fail;

	if (rc == DLOCK_OK)
		dlock_close(c);
	else if (rc != DLOCK_EUNREACHABLE || !may_fail)
		sim_unexpected("a newcomer's dlock_open", rc);
}

static void *open_clients(void *play)
{
	const struct sim_play *p = play;

	for (int i = 0; i < NEWCOMERS && !newcomers.ends; i++) {
		int other = !p->terms.forgets &&
			    sim_draw(p->chance, "other pool", 2);

		sim_nap((1 + (int64_t)sim_draw(p->chance, "newcomer", 3000)) *
			SIM_MS);
		if (other)
			see_other_pool_refused(p, p->terms.may_fail);
		else
			open_and_close(p);
	}
	return NULL;
}

void sim_fleet_send_newcomers(struct sim_play *p)
{
	newcomers.ends = 0;
	newcomers.begun = is_fleet(p) && p->terms.memory_rate == 0;
	if (newcomers.begun &&
	    pthread_create(&newcomers.thread, NULL, open_clients, p) != 0)
		sim_sched_fail("no thread");
}

void sim_fleet_end_newcomers(void)
{
	newcomers.ends = 1;
	if (newcomers.begun)
		pthread_join(newcomers.thread, NULL);
}

/* ---- Another pool -------------------------------------------------------- */

void sim_fleet_change_pool(struct sim_play *p)
{
	dlock_client *other;
	dlock_hold *h;
	int rc;

	if (!is_fleet(p) || p->terms.closes)
		return;
	p->terms.scene->forget_pool();
	sim_stage_must("dlock_open with another pool",
		       open_soon(p->terms.other, &other));
	for (size_t i = 0; i < p->n_names; i++) {
		int refused = (p->terms.others & 1U << p->names[i].member) != 0;

		rc = dlock_acquire(p->handles[0].lock[i], CALM_MS, &h);
		if (rc != (refused ? DLOCK_EINVAL : DLOCK_OK))
			sim_unexpected("an acquire in another pool", rc);
		if (rc == DLOCK_OK)
			(void)dlock_release(h);
	}
	dlock_close(other);
	p->terms.scene->forget_pool();
	for (size_t i = 0; i < p->n_names; i++) {
		sim_stage_must("dlock_acquire",
			       dlock_acquire(p->handles[0].lock[i], CALM_MS,
					     &h));
		sim_stage_must("dlock_release", dlock_release(h));
	}
}
