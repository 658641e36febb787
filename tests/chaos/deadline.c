/* SPDX-License-Identifier: Apache-2.0 */
/* An acquire returns within the timeout and the URI's ask time.  An
 * asynchronous acquire may need twice the ask time: see docs/async.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos/chaos.h"
#include "lab/base/clock.h"

#define SHOWN 4
#define CALLS (5 * CHAOS_THREADS) /* at once: a use has so many */

struct call { /* a call under way */
	uint64_t op;
	int64_t at;
	int64_t timeout_ms;
	int asks; /* how many times the ask time it may need */
};

struct calls {
	struct chaos *c;
	const struct lab_record *records;
	size_t count;
	struct call call[CALLS]; /* of a process */
	uint32_t pid;            /* ... which is this */
	int64_t found;
	int64_t longest;
};

/* A paused process cannot return in time. */
static bool stood_still(const struct calls *s, uint32_t pid, int64_t begin,
			int64_t end)
{
	const struct lab_record *r;
	int64_t paused = LAB_FOREVER;

	for (size_t i = 0; i < s->count; i++) {
		r = &s->records[i];
		if (r->value != (int64_t)pid)
			continue;
		if (r->what == LAB_PAUSED)
			paused = r->at;
		if (r->what != LAB_RESUMED)
			continue;
		if (paused < end && r->at > begin)
			return true;
		paused = LAB_FOREVER;
	}
	return paused < end;
}

static void judge_call(struct calls *s, const struct lab_record *r,
		       const struct call *call)
{
	const struct chaos_options *o = &s->c->o;
	int64_t due = call->at +
		      (call->timeout_ms + call->asks * o->ask_ms) * LAB_MS;
	int64_t over = r->at - due;

	if (over <= s->longest || stood_still(s, r->pid, call->at, r->at))
		return;
	s->longest = over;
	if (over <= o->slack_ms * LAB_MS + 2 * s->c->stall_ns)
		return;
	if (s->found++ < SHOWN)
		printf("LATE: process %u, operation %" PRIx64
		       ": timeout %" PRId64 " ms%s, returned %d %.3f ms too "
		       "late at %.6f\n",
		       r->pid, r->op, call->timeout_ms,
		       call->asks > 1 ? ", asynchronous" : "", r->rc,
		       (double)over / 1e6, (double)r->at / 1e9);
}

static int asks_of(const struct calls *s, const struct lab_record *r)
{
	const struct chaos_store *store = s->c->o.store;

	return r->value == 0 && store && store->try_asks ? store->try_asks : 1;
}

/* Records come process by process.  A call under way at the first record of the
 * next process was never answered, and the slot is free again. */
static void follow_call(struct calls *s, const struct lab_record *r)
{
	struct call *free_one = &s->call[0];
	uint64_t async = 0;

	if (r->what == LAB_NOTE &&
	    strncmp(r->name, CHAOS_ASYNC, strlen(CHAOS_ASYNC)) == 0)
		async = strtoull(r->name + strlen(CHAOS_ASYNC), NULL, 16);
	if (r->pid != s->pid)
		memset(s->call, 0, sizeof(s->call));
	s->pid = r->pid;
	for (int i = 0; i < CALLS; i++) {
		struct call *k = &s->call[i];

		if (r->what == LAB_ACQUIRED && k->op == r->op) {
			judge_call(s, r, k);
			k->op = 0;
			return;
		}
		if (async != 0 && k->op == async)
			k->asks++;
		if (!k->op || k->at < free_one->at)
			free_one = k->op && !free_one->op ? free_one : k;
	}
	if (r->what == LAB_ACQUIRE && r->value >= 0)
		*free_one = (struct call){ r->op, r->at, r->value,
					   asks_of(s, r) };
}

int64_t chaos_overruns(struct chaos *c, int64_t *longest_ns)
{
	struct calls s = { .c = c };
	struct lab_record *records;

	if (lab_history_load(c->dir, &records, &s.count) < 0)
		return -1;
	s.records = records;
	for (size_t i = 0; i < s.count; i++)
		follow_call(&s, &records[i]);
	free(records);
	*longest_ns = s.longest;
	return s.found;
}
