/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/mix.h"

#define PLAIN 43 /* percent of uses */

struct row {
	int weight;
	uint32_t cap;
	void (*use)(struct chaos_thread *me);
};

static const struct row rows[] = {
	{ 8, DLOCK_CAP_PERMITS, chaos_use_permits },
	{ 8, DLOCK_CAP_UPGRADE, chaos_use_upgradeable },
	{ 6, DLOCK_CAP_SHARED, chaos_use_downgrade },
	{ 8, 0, chaos_use_multi },
	{ 6, 0, chaos_use_terms },
	{ 8, 0, chaos_use_revocable },
	{ 8, 0, chaos_use_revoke },
	{ 5, 0, chaos_use_close },
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

int64_t chaos_draw_wait(struct chaos_thread *me)
{
	if (chaos_chance(&me->random, 20))
		return 0;
	return chaos_between(&me->random, 1, 2 * me->w->job->ttl_ms);
}

int64_t chaos_draw_work(struct chaos_thread *me)
{
	int64_t ttl = me->w->job->ttl_ms;

	if (chaos_chance(&me->random, 90))
		return chaos_between(&me->random, 0, 5);
	return chaos_between(&me->random, 10, ttl / 2);
}

void chaos_use_mix(struct chaos_thread *me)
{
	uint32_t caps = dlock_caps(me->w->client);
	int64_t drawn = chaos_between(&me->random, 0, 99) - PLAIN;

	for (size_t i = 0; i < NROWS && drawn >= 0; i++) {
		drawn -= rows[i].weight;
		if (drawn >= 0 || (rows[i].cap & ~caps) != 0)
			continue;
		atomic_fetch_add(&me->w->counters->uses, 1);
		rows[i].use(me);
		return;
	}
	chaos_use_lock(me);
}

void chaos_count_keeps(struct chaos_worker *w)
{
	struct dlock_stats now = { .size = sizeof(now) };

	if (dlock_get_stats(w->client, &now) != DLOCK_OK)
		return;
	atomic_fetch_add(&w->counters->feature[CHAOS_KEEP],
			 now.retaken - w->retaken);
	atomic_fetch_add(&w->counters->feature[CHAOS_PASS],
			 now.passed - w->passed);
	w->retaken = now.retaken;
	w->passed = now.passed;
}
