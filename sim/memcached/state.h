/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model memcached's own structures, for the files of this folder.
 */
#ifndef DLOCK_SIM_MEMCACHED_STATE_H
#define DLOCK_SIM_MEMCACHED_STATE_H

#include "sim/memcached/items.h"
#include "sim/memcached/server.h"

/* The count is so much more than the "uptime" of "stats". */
enum { MM_AHEAD_S = 60 };

/* How a data block is stored. */
enum mm_mode { MM_SET, MM_ADD, MM_CAS };

/* A request before the data block. */
struct mm_store {
	enum mm_mode mode;
	struct mm_item *item; /* not linked; NULL: no request */
	uint64_t cas;         /* of the item, as required by MM_CAS */
	size_t len;           /* of the block, with the line end */
};

struct sim_memc_conn {
	struct sim_memc *server;
	struct sim_memc_conn *next;
	struct sim_bytes in, out;
	struct mm_store store;
	size_t swallow; /* so many bytes to come are ignored */
	int is_closing;
};

struct sim_memc {
	struct mm_items items;
	struct sim_memc_conn *conns;
	uint64_t pid;
	int64_t began_s;      /* the machine's up_us at the start, in seconds */
	int64_t started_s;    /* since 1970, when the count was 0 */
	int64_t tick_us;      /* when the timer rings next */
};

#endif
