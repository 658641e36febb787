/* SPDX-License-Identifier: Apache-2.0 */
/* What a server's `stats` tells, and how far its clock is behind.  Pure. */
#ifndef DLOCK_MEMCACHED_PROTOCOL_AGE_H
#define DLOCK_MEMCACHED_PROTOCOL_AGE_H

#include <dlock/backend.h>

struct memc_stats {
	uint64_t time_s, uptime_s, pid;
	long major, minor, patch;
};

/* A line of the answer, before its END.  0: it is no line of `stats`. */
int dlki_memc_stats_line(struct memc_stats *st, const char *line);

/* Are time, uptime and version told, and can they be? */
int dlki_memc_stats_are_whole(const struct memc_stats *st);

/* Is the server recent enough for the meta protocol? */
int dlki_memc_stats_have_meta(const struct memc_stats *st);

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
 * the item's owner was promised.  In the past if its clock stood still.
 */
dlk_time dlki_memc_age_learn(struct memc_age *age, const struct memc_stats *st,
			     dlk_time asked, dlk_time now);

#endif
