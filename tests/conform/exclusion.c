/* SPDX-License-Identifier: Apache-2.0 */
/* Holders that exclude each other are never inside at the same time. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "conform/cases.h"
#include "conform/worker.h"

enum { WORK_MS = 200, STOP_MS = 20 };

static struct arena *the_arena(struct conform *t)
{
	if (!t->arena)
		t->arena = arena_map(t->dir);
	return t->arena;
}

/* Let `n` workers take turns, and return the number of rounds. */
static int64_t work(struct conform *t, const enum way ways[],
		    const enum op ops[], int n)
{
	struct worker *p[16] = { NULL };
	int64_t rounds = 0;
	int there = 0;

	for (int i = 0; i < n; i++) {
		p[there] = join(t, ways[i]);
		there += p[there] != NULL;
	}
	CHECK_INT(there, >=, 2);
	for (int i = 0; i < there; i++)
		tell(p[i], ops[i], WORK_MS);
	for (int i = 0; i < there; i++) {
		struct reply r = hear(p[i]);

		CHECK_INT(r.rc, ==, DLOCK_OK);
		CHECK_INT(r.count, >=, 1);
		rounds += r.count;
		leave(t, p[i]);
	}
	CHECK_INT(t->arena->overlaps, ==, 0);
	CHECK_INT(t->arena->tokens_fell, ==, 0);
	return rounds;
}

/* Two workers of each way. */
void case_exclusion_everybody(struct conform *t)
{
	static const enum way ways[] = { SAME_HANDLE,  OTHER_HANDLE,
					 OTHER_CLIENT, OTHER_PROCESS,
					 SAME_HANDLE,  OTHER_HANDLE,
					 OTHER_CLIENT, OTHER_PROCESS };
	static const enum op ops[] = { WORK, WORK, WORK, WORK,
				       WORK, WORK, WORK, WORK };
	struct arena *a = the_arena(t);
	int64_t rounds;

	use_mutex(t);
	rounds = work(t, ways, ops, 8);
	CHECK_INT(a->most, ==, 1);
	CHECK_INT(a->count, ==, rounds);
	is_free(t->lock);
}

void case_exclusion_rwlock(struct conform *t)
{
	static const enum way ways[] = { SAME_HANDLE,   OTHER_CLIENT,
					 OTHER_CLIENT,  OTHER_HANDLE,
					 OTHER_PROCESS, OTHER_PROCESS };
	static const enum op ops[] = { READ_WORK, WORK,      READ_WORK,
				       READ_WORK, READ_WORK, WORK };

	the_arena(t);
	use_rwlock(t);
	work(t, ways, ops, 6);
}

/* An upgrading reader is inside all along. */
void case_exclusion_upgrade(struct conform *t)
{
	static const enum way ways[] = { SAME_HANDLE,   OTHER_CLIENT,
					 OTHER_CLIENT,  OTHER_HANDLE,
					 OTHER_PROCESS, OTHER_PROCESS };
	static const enum op ops[] = { UPGRADE_WORK, UPGRADE_WORK, WORK,
				       READ_WORK,    UPGRADE_WORK, READ_WORK };

	the_arena(t);
	use_rwlock(t);
	work(t, ways, ops, 6);
	is_free(upgradeable(t, t->lock));
	is_free(t->lock);
}

void case_exclusion_semaphore(struct conform *t)
{
	static const enum way ways[] = { SAME_HANDLE, OTHER_CLIENT,
					 OTHER_HANDLE, OTHER_PROCESS,
					 OTHER_PROCESS };
	static const enum op ops[] = { PERMIT_WORK, PERMIT_WORK, PERMIT_WORK,
				       PERMIT_WORK, PERMIT_WORK };

	the_arena(t)->limit = 2;
	use_semaphore(t, 2);
	work(t, ways, ops, 5);
}

/* Every other worker keeps a released lock for a while. */
static struct worker *start_mortal(struct conform *t, enum op op)
{
	int keeps = t->caps & DLOCK_CAP_WANTED && t->n_workers % 2;
	struct worker *p = join_with(t, OTHER_PROCESS,
				     keeps ? SHORT_LEASE "&keep=100ms" :
					     SHORT_LEASE);

	tell(p, op, 60000);
	return p;
}

static void kill_at_work(struct conform *t, struct worker *p)
{
	t->arena->doomed[p->number] = 1;
	bury(t, p);
}

/* Stop a worker until others have worked, or wait for the stopped worker. */
static void stop_at_work(const struct conform *t, const struct worker *p)
{
	int64_t before = t->arena->count, end = now_ms() + STOP_MS;

	CHECK_INT(kill(p->pid, SIGSTOP), ==, 0);
	while (t->arena->count <= before + 3 && now_ms() < end)
		nap_ms(1);
	CHECK_INT(kill(p->pid, SIGCONT), ==, 0);
}

/* Kill workers inside: no two others get in. A stopped worker keeps the lock
 * for sure only where claims do not expire. */
static void work_despite_deaths(struct conform *t, enum op op, int deaths)
{
	struct arena *a = the_arena(t);
	struct worker *p[3];

	for (int i = 0; i < 3; i++)
		p[i] = start_mortal(t, op);
	for (int i = 0; i < deaths; i++) {
		int64_t before = a->count;

		EVENTUALLY(a->count > before + 3);
		if (t->ttl_ms == 0)
			stop_at_work(t, p[(i + 1) % 3]);
		kill_at_work(t, p[i % 3]);
		p[i % 3] = start_mortal(t, op);
	}
	for (int i = 0; i < 3; i++)
		kill_at_work(t, p[i]);
	CHECK_INT(a->overlaps, ==, 0);
	CHECK_INT(a->tokens_fell, ==, 0);
}

void case_exclusion_despite_deaths(struct conform *t)
{
	needs_other_processes(t);
	use_mutex(t);
	work_despite_deaths(t, WORK, 6);
}

/* Without leases a death costs no time, so there may be many. */
void case_exclusion_of_sides_despite_deaths(struct conform *t)
{
	needs_other_processes(t);
	use_rwlock(t);
	work_despite_deaths(t, SIDES_WORK, t->ttl_ms > 0 ? 3 : 30);
	give(take(upgradeable(t, t->lock)));
	give(take(t->lock));
}

/* The other process shares no environment, no directories and no session of
 * processes with this process. */
void case_exclusion_remote(struct conform *t)
{
	dlock_hold *h;
	struct worker *p;

	needs_other_processes(t);
	use_mutex(t);
	h = take(t->lock);
	setenv("TMPDIR", t->dir, 1);
	setenv("XDG_RUNTIME_DIR", t->dir, 1);
	setenv("HOME", t->dir, 1);
	CHECK_INT(chdir(t->dir), ==, 0);
	p = join(t, OTHER_PROCESS);
	CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	give(h);
	ASK_OK(p, ACQUIRE, patience_ms());
	ASK_OK(p, RELEASE, 0);
}
