/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to `stats`, and how far the server's clock is behind.  Pure. */
#ifndef DLOCK_MEMCACHED_PROTOCOL_AGE_H
#define DLOCK_MEMCACHED_PROTOCOL_AGE_H

#include <dlock/backend.h>

struct memc_stats {
	uint64_t time_s, uptime_s, pid;
	long major, minor, patch;
};

/* Take in a line of the answer, before END.  0: no line of `stats`. */
int dlki_memc_stats_line(struct memc_stats *st, const char *line);

/* Are time, uptime and version there, and possible? */
int dlki_memc_stats_are_whole(const struct memc_stats *st);

/* Is the server recent enough for the meta protocol? */
int dlki_memc_stats_have_meta(const struct memc_stats *st);

/* The age of a run of the server; all 0 at first. */
struct memc_age {
	uint64_t born_s;   /* the run */
	dlk_time from;     /* the earliest time at which the server counted 0 */
	uint64_t uptime_s; /* the largest count seen, and when the last request
			    * that was told it began */
	dlk_time asked;
};

/*
 * Take in an answer to a request that was sent at `asked`, and read by `now`;
 * `began`: when the connection of a greeting was begun, else as `asked`.
 * Returns until when the server's count of seconds is near enough: an item
 * stored before then, in the same batch or a later one, lives for as long as
 * the item's owner was promised.  A time in the past: the server's clock stood
 * still.
 */
dlk_time dlki_memc_age_learn(struct memc_age *age, const struct memc_stats *st,
			     dlk_time began, dlk_time asked, dlk_time now);

#endif
