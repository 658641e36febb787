/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the server's clock is behind, judged by ours.
 *
 * The server counts its age in whole seconds, by a timer.  One that was stopped
 * serves what it finds in its sockets while its timer is still to run, and
 * counts the time of an item from before it was stopped: the item may be gone
 * as soon as it was stored.
 *
 * When its count goes on it is right, to a second: it is late by what passes
 * until it goes on again.  So a count is trusted for a while after the moment
 * at which it began; and as that moment is not seen, from the latest one before
 * it that is known.  A look that was told less was one.  A clock of which
 * nothing else is known is taken to go.
 *
 * What the server is behind by it may never make up for: its machine slept, or
 * its clock is slower than ours.  That, too, the next two looks between which
 * it goes on tell.
 */
#include "memcached.h"

#include "core/clock.h"

#define SECOND (INT64_C(1000) * DLKI_MS)

/* Less than MEMC_MORE_S, by the second to which a count is right. */
#define TRUST ((MEMC_MORE_S - 1) * SECOND)

dlk_time dlki_memc_age_learn(struct memc_age *age, const struct memc_about *a,
			     dlk_time asked, dlk_time now)
{
	int64_t count = (int64_t)a->uptime_s * SECOND;
	uint64_t born_s = a->time_s - a->uptime_s;

	if (age->born_s != born_s) {
		age->born_s = born_s;
		age->from = asked - count - SECOND;
		age->uptime_s = a->uptime_s;
		age->asked = asked;
	} else if (a->uptime_s > age->uptime_s) {
		if (age->from < age->asked - count)
			age->from = age->asked - count;
		age->uptime_s = a->uptime_s;
		age->asked = asked;
	} else if (a->uptime_s == age->uptime_s && age->asked < asked) {
		age->asked = asked;
	}
	if (age->from > now - count)
		age->from = now - count;
	return age->from + count + TRUST;
}
