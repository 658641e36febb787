/* SPDX-License-Identifier: Apache-2.0 */
/* Inspections. */
#include "support.h"

static void keep_participant(const struct dlock_participant *p, void *seen)
{
	*(struct dlock_participant *)seen = *p;
}

/* Tokens count from the server's start, and tell no time. */
EITHER_WAY(memcached_inspect, does_not_know_since_when)
{
	dlock_lock *l = mutex(direct(&s, ""), "x");
	struct dlock_participant seen = { .since_ms = -1 };
	dlock_hold *h = take(l);

	CHECK_OK(dlock_inspect(l, keep_participant, &seen, patience_ms()));
	CHECK(seen.token == dlock_token(h));
	CHECK_INT(seen.since_ms, ==, 0);
	give(h);
}
