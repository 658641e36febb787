/* SPDX-License-Identifier: Apache-2.0 */
/* The server's clock, judged by ours, and what else `stats` tells. */
#ifndef DLOCK_BACKENDS_MEMCACHED_CLOCK_H
#define DLOCK_BACKENDS_MEMCACHED_CLOCK_H

#include "conn.h"

struct memc_stats {
	uint64_t time_s, uptime_s, pid;
	long major, minor, patch;
};

/* How old a run of the server is; all 0 at first. */
struct memc_age {
	uint64_t born_s;   /* which run this is about */
	dlk_time from;     /* it would have counted 0 not before this */
	uint64_t uptime_s; /* the largest that was seen, and when we began the
			    * last request that was told it */
	dlk_time asked;
};

/*
 * Take in what was told, sent for at `asked` and read by `now`.  Returns until
 * when the server's count of seconds is near enough: what the server stored
 * before, in the same batch or in one that begins later, lives for as long as
 * the item's owner was promised.  In the past if its clock stood still.  Pure.
 */
dlk_time dlki_memc_age_learn(struct memc_age *age, const struct memc_stats *st,
			     dlk_time asked, dlk_time now);

/* What a session knows of the server's clock.  NULL: no memory. */
struct memc_clock *dlki_memc_clock_new(void);
void dlki_memc_clock_free(struct memc_clock *clock);

/* Read the answer to the `stats` that was sent for at `asked` or later, and set
 * c->trusted and c->seen.  EUNREACHABLE: another run of the server told it. */
int dlki_memc_stats_read(struct memc_conn *c, struct memc_stats *st,
			 dlk_time asked, dlk_time deadline,
			 struct dlk_error *err);

/* Does the connection still lead to the run of the server that it was made to?
 * EUNREACHABLE: it does not.  Asks only if that was not seen just now. */
int dlki_memc_confirm(struct memc_conn *c, dlk_time deadline,
		      struct dlk_error *err);

/* Will these be certain for the time of a batch: that the run is there, and
 * that its clock is near enough? */
int dlki_memc_clock_is_fresh(const struct memc_conn *c, dlk_time now);

/* Wait until the server's clock goes on: within a second, unless the server is
 * stopped. */
int dlki_memc_clock_await(struct memc_conn *c, dlk_time deadline,
			  struct dlk_error *err);

/* What the server counts by now at most, if the connection is trusted. */
uint64_t dlki_memc_uptime_most_s(const struct memc_conn *c);

void dlki_memc_sleep_until(dlk_time until);

#endif
