/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/breaker.h"

#include <stdio.h>

#include "lab/base/clock.h"

#define ANSWER_MS 500
#define PATIENCE_MS 60000

static void note_odd(struct chaos_breaker *b, const char *name, int rc)
{
	struct chaos_counters *counters = b->counters;

	if (atomic_fetch_add(&counters->unexpected, 1) == 0)
		snprintf(counters->unexpected_text,
			 sizeof(counters->unexpected_text),
			 "break of %s: %s: %s", name, dlock_errname(rc),
			 dlock_errmsg());
}

/* An earlier try may have been carried out, or still may be.  On file: a
 * stopped process may keep others from breaking locks, and goes on only after
 * this call. */
static void break_lock(struct chaos_breaker *b, int i, bool stopped)
{
	int64_t begin = lab_now(), end = lab_after_ms(PATIENCE_MS);
	dlock_lock *lock;
	int rc = chaos_make_handle(b->client, i, chaos_names[i].mode, &lock);

	if (rc == DLOCK_OK) {
		do {
			rc = dlock_break(lock, ANSWER_MS);
		} while ((rc == DLOCK_EUNREACHABLE ||
			  (rc == DLOCK_EBUSY && !stopped)) &&
			 lab_now() < end);
		lab_history_wiped(b->history, chaos_names[i].name, begin,
				  false);
		dlock_lock_free(lock);
	}
	if (rc == DLOCK_OK)
		atomic_fetch_add(&b->counters->feature[CHAOS_BREAK], 1);
	else if (rc != DLOCK_EBUSY || !stopped)
		note_odd(b, chaos_names[i].name, rc);
}

bool chaos_breaker_turn(struct chaos_breaker *b, bool stopped)
{
	int64_t now = lab_now();
	bool first = b->next == 0;

	if (!first && now < b->next)
		return false;
	if (!first)
		break_lock(b,
			   (int)chaos_between(&b->random, 0, CHAOS_NAMES - 2),
			   stopped);
	b->next = lab_after_ms(
		chaos_between(&b->random, b->ttl_ms, 4 * b->ttl_ms));
	return !first;
}
