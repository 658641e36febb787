/* SPDX-License-Identifier: Apache-2.0 */
/* A request to the model memcached, and functions shared by the commands. */
#ifndef DLOCK_SIM_MEMCACHED_CALL_H
#define DLOCK_SIM_MEMCACHED_CALL_H

#include "sim/memcached/state.h"
#include "sim/memcached/words.h"

#define MM_BAD_FORMAT "CLIENT_ERROR bad command line format"
#define MM_TOO_LARGE "SERVER_ERROR object too large for cache"
#define MM_NO_MEMORY "SERVER_ERROR out of memory storing object"

struct mm_call {
	struct sim_memc_conn *conn;
	struct mm_items *items;
	struct mm_words words; /* the command first */
};

/* A line, unless the request is to have no reply. */
void mm_reply(const struct mm_call *call, const char *line);

/* A line in any case. */
void mm_reply_error(const struct mm_call *call, const char *line);

/* The end of an item with this time to live, by the count. */
uint32_t mm_end_of(const struct sim_memc *s, int32_t exptime);

/* Store an item after the data block has come.  `item` is given away. */
enum mm_stored { MM_STORED, MM_NOT_STORED, MM_EXISTS, MM_NOT_FOUND };
enum mm_stored mm_store_item(struct mm_items *all, const struct mm_store *how,
			     struct mm_item *item, uint64_t *cas);

/* Add to the number in an item, or subtract.  `text` gets the number, *out the
 * item, and *is_new whether the item is new. */
enum mm_added { MM_ADDED, MM_NO_ITEM, MM_NO_NUMBER, MM_OTHER_CAS, MM_NO_ROOM };
enum { MM_NUMBER_SIZE = 24 };
struct mm_delta {
	uint64_t by;
	int is_less;
	uint64_t cas; /* of the item, as required; 0: any */
};
enum mm_added mm_add_delta(struct mm_items *all, struct mm_text key,
			   const struct mm_delta *delta,
			   char text[MM_NUMBER_SIZE], struct mm_item **out,
			   int *is_new);

/* flush_all, in so many seconds. */
void mm_flush(struct sim_memc *s, int32_t in_s);

#endif
