/* SPDX-License-Identifier: Apache-2.0 */
/* A request to the model memcached, and functions shared by the commands. */
#ifndef DLOCK_SIM_MEMCACHED_CALL_H
#define DLOCK_SIM_MEMCACHED_CALL_H

#include "sim/memcached/state.h"
#include "sim/memcached/words.h"

#define MM_BAD_FORMAT "CLIENT_ERROR bad command line format"

struct mm_call {
	struct sim_memc_conn *conn;
	struct mm_items *items;
	struct mm_words words; /* the command first */
};

/* Append a line to the reply. */
void mm_reply(const struct mm_call *call, const char *line);

/* 1, or the reply says that the key is too long. */
int mm_is_key(const struct mm_call *call, struct mm_text word);

/* The end of an item with this time to live, by the count. */
uint32_t mm_end_of(const struct sim_memc *s, int32_t exptime);

/* Store an item after the data block has come.  `item` is given away. */
enum mm_stored { MM_STORED, MM_NOT_STORED, MM_EXISTS, MM_NOT_FOUND };
enum mm_stored mm_store_item(struct mm_items *all, const struct mm_store *how,
			     struct mm_item *item);

#endif
