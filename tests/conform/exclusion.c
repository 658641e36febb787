/* SPDX-License-Identifier: Apache-2.0 */
/* Holders that exclude each other are never inside at the same time. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "conform/cases.h"
#include "conform/worker.h"

enum { WORK_MS = 200 };

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

/* Kill workers inside: no two others get in. */
void case_exclusion_despite_deaths(struct conform *t)
{
	struct arena *a = the_arena(t);
	struct worker *p[3];

	needs_other_processes(t);
	use_mutex(t);
	for (int i = 0; i < 3; i++) {
		p[i] = join_with(t, OTHER_PROCESS, SHORT_LEASE);
		tell(p[i], WORK, 60000);
	}
	for (int i = 0; i < 6; i++) {
		int victim = i % 3;
		int64_t before = a->count;

		EVENTUALLY(a->count > before + 3);
		a->doomed[p[victim]->number] = 1;
		bury(t, p[victim]);
		p[victim] = join_with(t, OTHER_PROCESS, SHORT_LEASE);
		tell(p[victim], WORK, 60000);
	}
	for (int i = 0; i < 3; i++) {
		a->doomed[p[i]->number] = 1;
		bury(t, p[i]);
	}
	CHECK_INT(a->overlaps, ==, 0);
	CHECK_INT(a->tokens_fell, ==, 0);
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
