/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of the server, as a connection knows the run: the server's count of
 * seconds, and the beginning of the keys of the run's items.  Pure.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_RUN_H
#define DLOCK_MEMCACHED_PROTOCOL_RUN_H

#include "backends/memcached/protocol/age.h"
#include "core/loop/protocol.h"

#define MEMC_MORE_S 3 /* by which an item outlives the lease */
#define MEMC_STEM_SIZE 88 /* a prefix of 64, the second, dots */

/* How long items live: by the server's count of seconds. */
struct memc_lives {
	int64_t exptime_s; /* the lease and MEMC_MORE_S */
	int64_t mark_s;    /* a mark: three times that, or ten minutes */
};

struct memc_run {
	uint64_t born_s;      /* the second of the start; 0: not greeted yet */
	uint64_t epoch;       /* another epoch: another server or run */
	uint64_t base;        /* of the tokens of this run of the server */
	dlk_time seen;        /* when the run was there for certain */
	uint64_t uptime_s;    /* ... and the server's count then, or later */
	dlk_time grants_from; /* before that, the server is too young */
	dlk_time trusted;     /* an item stored by then lives long enough */
	int meta;             /* the server speaks the meta protocol */
	struct memc_lives lives;
	const char *prefix;   /* the URI's */
	const char *digest;   /* of the pool; NULL: no pool */
	char stem[MEMC_STEM_SIZE]; /* the beginning of every key */
	size_t stem_len;
};

/* Begin: the server of a new connection told `st`.  0; EINVAL, EPROTO: see err,
 * which names `peer`. */
int dlki_memc_run_begin(struct memc_run *run, const struct dlk_uri *uri,
			const struct memc_stats *st, const char *peer,
			dlk_time now, struct dlk_error *err);

/* Take in that the server told `st` again, in answer to `front`.  0, or
 * EUNREACHABLE: the connection leads to another run. */
int dlki_memc_run_told(struct memc_run *run, struct memc_age *age,
		       const struct memc_stats *st,
		       const struct dlki_front *front, dlk_time now);

/* Was the run there a second before `now`, or later? */
int dlki_memc_run_is_seen(const struct memc_run *run, dlk_time now);

/* For the time of a batch, is the run certainly there, and the server's clock
 * near enough? */
int dlki_memc_run_is_fresh(const struct memc_run *run, dlk_time round_trip,
			   dlk_time now);

/* Return the greatest count of a trusted server by now. */
uint64_t dlki_memc_run_uptime_most_s(const struct memc_run *run, dlk_time now);

#endif
