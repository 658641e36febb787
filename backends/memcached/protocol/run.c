/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/protocol/run.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND (INT64_C(1000) * DLK_MS)
#define QUARTER (250 * DLK_MS) /* more than most batches take nearby */
#define GRACE (1000 * DLK_MS)  /* when the next run is too young */

/*
 * Tokens count the items stored by the server, from a second after the second
 * of the start, in microseconds.  Two runs begun in the same second would give
 * equal tokens, so the client takes no token before the second is over for
 * certain.  A server that stores fewer than a million items a second never gets
 * ahead of the time, and so the next run's tokens are larger.  memcached counts
 * the age from 2.
 */
#define SECOND_US UINT64_C(1000000)
#define TOKENS_FROM_S 3
#define ADULT_S 4

/* How far the server's clock may be behind, as it counts whole seconds. */
#define LATE_S 3

/* Set the base of the tokens.  The names may have moved here when the server
 * had run for a while. */
static int set_base(struct memc_run *run, const struct dlk_uri *uri,
		    const struct memc_stats *st, const char *peer,
		    struct dlk_error *err)
{
	uint64_t moved_us = (uint64_t)dlk_param_int(uri, "token_base");

	if (moved_us > (st->time_s + LATE_S) * SECOND_US)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: parameter 'token_base': %" PRIu64
				" is ahead of the server's clock, which is at "
				"%" PRIu64 "000000; give the time of the move "
				"in microseconds since 1970",
				peer, moved_us, st->time_s);
	run->base = (run->born_s + TOKENS_FROM_S) * SECOND_US;
	if (run->base < moved_us)
		run->base = moved_us;
	return 0;
}

int dlki_memc_run_begin(struct memc_run *run, const struct dlk_uri *uri,
			const struct memc_stats *st, const char *peer,
			dlk_time now, struct dlk_error *err)
{
	uint64_t born_s = st->time_s - st->uptime_s;

	if (born_s >= UINT64_C(1) << 40)
		return dlk_fail(err, DLOCK_EPROTO,
				"%s: the server's clock is wrong", peer);
	run->born_s = born_s;
	run->stem_len = (size_t)snprintf(run->stem, sizeof(run->stem),
					 "%.64s.%" PRIu64 ".",
					 dlk_param_text(uri, "prefix"), born_s);
	run->grants_from = 0;
	if (st->uptime_s < ADULT_S)
		run->grants_from = now +
				   (int64_t)(ADULT_S - st->uptime_s) * SECOND;
	return set_base(run, uri, st, peer, err);
}

int dlki_memc_run_told(struct memc_run *run, struct memc_age *age,
		       const struct memc_stats *st,
		       const struct dlki_front *front, dlk_time now)
{
	if (run->born_s != 0 && st->time_s - st->uptime_s != run->born_s)
		return DLOCK_EUNREACHABLE;
	run->seen = front->since;
	run->uptime_s = st->uptime_s;
	if (st->uptime_s >= ADULT_S)
		run->grants_from = 0;
	run->trusted = dlki_memc_age_learn(age, st, front->began, front->since,
					   now);
	return 0;
}

int dlki_memc_run_is_seen(const struct memc_run *run, dlk_time now)
{
	return now <= run->seen + GRACE;
}

int dlki_memc_run_is_fresh(const struct memc_run *run, dlk_time round_trip,
			   dlk_time now)
{
	dlk_time most = round_trip + round_trip / 4;

	if (most < QUARTER)
		most = QUARTER;
	return now + most <= run->trusted &&
	       dlki_memc_run_is_seen(run, now + most);
}

/* Return the greatest count by `now`: the server may catch up at once. */
uint64_t dlki_memc_run_uptime_most_s(const struct memc_run *run, dlk_time now)
{
	dlk_time since = now - run->seen;

	return run->uptime_s + (uint64_t)(since / SECOND) + 1 + MEMC_MORE_S;
}
