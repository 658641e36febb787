/* SPDX-License-Identifier: Apache-2.0 */
/* The items of a lock: how many there are, their keys, what they say.  Pure. */
#ifndef DLOCK_BACKENDS_MEMCACHED_ITEM_H
#define DLOCK_BACKENDS_MEMCACHED_ITEM_H

#include <dlock/backend.h>

/* The places of items that are no slots. */
#define MEMC_GATE (-1)
#define MEMC_MARK (-2)
#define MEMC_WISH (-3)

#define MEMC_READERS 64   /* part of the format: all clients must agree */
#define MEMC_PERMITS 1024 /* the most that a semaphore can have */
#define MEMC_LABEL 128
#define MEMC_KEY_SIZE 160
#define MEMC_TEXT_SIZE 256

/* What an item says. */
struct memc_item {
	char owner[33]; /* "": dlock did not write it */
	char label[MEMC_LABEL + 1];
	uint64_t token;
	uint32_t add; /* the owner's add that made it; 0: it was renewed since,
		       * and says its token */
	uint32_t limit;
	uint64_t until_s; /* of a mark */
	uint64_t cas;
	int64_t left_s; /* -1: not known */
};

/* How many slots a lock has, and whether it has a gate. */
int dlki_memc_slots(const struct dlk_request *request);
int dlki_memc_gated(const struct dlk_request *request);

/* `stem`: the beginning of every key. */
void dlki_memc_key(const char *stem, size_t stem_len,
		   const struct dlk_request *request, int slot,
		   char out[MEMC_KEY_SIZE]);

/* Returns the length. */
int dlki_memc_item_print(char out[MEMC_TEXT_SIZE],
			 const struct dlk_request *request, uint64_t token,
			 uint32_t add);
/* The mark that `mark` says, but with another end. */
int dlki_memc_mark_print(char out[MEMC_TEXT_SIZE], const struct memc_item *mark,
			 uint64_t until_s);
void dlki_memc_item_parse(struct memc_item *item, const char *text);

/* The slot at which a request begins to look for a free one: readers at
 * different ones, to keep out of each other's way; permits at the first, so
 * that a client with another number of them is seen. */
int dlki_memc_first_slot(const struct dlk_request *request);

/* What is to be said of the item; `id` and the item are borrowed.  `alone`: the
 * lock has no other item. */
struct dlock_participant dlki_memc_item_show(const struct memc_item *item,
					     int slot, int alone, char id[16]);

#endif
