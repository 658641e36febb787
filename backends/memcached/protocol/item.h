/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of a lock: how many, keys, texts.  Pure.
 *
 * The server keeps these items, P being the prefix, R the second in which the
 * server was started, and K the request's key:
 *   P.R.K      the gate of a lock: the exclusive holder, or a writer that waits
 *              there until the readers have gone; the gate of a semaphore: a
 *              request that waits for several permits
 *   P.R.K.0 …  the slots: one for each reader, one for each permit
 *   P.R.K.m    the mark: of a lock, that it has or had readers; of a semaphore,
 *              how many permits it has
 *   P.R.K.w    the wish that the owner at the gate gives the lock up
 *   P.0        the witness, by which servers are told apart; see greet.c
 * Each item expires by itself, at most MEMC_MORE_S after the owner's lease.  A
 * mark and a wish, which keep no client out, expire some minutes later.
 *
 * A client acquires by adding an item, which fails if the item is there.  The
 * client changes or removes an item by the unique number (cas) that the server
 * gave the item, and so hits only the item it read.
 *
 * A restarted server counts cas from 1 again.  So a key names the run of the
 * server that it is meant for, and hits no item of the next run.  A grant is
 * believed only if the run was still there afterwards; see job.c.
 *
 * An owner's token is the cas of the add, on top of a base that tells a run of
 * the server from the next.  The token rises as the server's own count does,
 * needs no item that could be lost, and costs no request.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_ITEM_H
#define DLOCK_MEMCACHED_PROTOCOL_ITEM_H

#include <dlock/backend.h>

/* The places of items other than slots. */
#define MEMC_GATE (-1)
#define MEMC_MARK (-2)
#define MEMC_WISH (-3)
#define MEMC_POOL (-4) /* the server's, of no lock */

#define MEMC_READERS 64   /* part of the format: all clients must agree */
#define MEMC_PERMITS 1024 /* the most that a semaphore can have */
#define MEMC_LABEL 128
#define MEMC_KEY_SIZE 160
#define MEMC_TEXT_SIZE 256

/*
 * What an item at a lock's gate says of the owner, in the place of the limit.
 * An owner without a word was written by an earlier version, and takes the lock
 * without storing the item once more; such an owner cannot be overtaken.
 */
enum memc_word {
	MEMC_NO_WORD,
	MEMC_YIELDS, /* takes the lock only by storing the item once more */
	MEMC_HAS     /* has the lock */
};

/* The contents of an item. */
struct memc_item {
	char owner[33]; /* "": not written by dlock */
	char label[MEMC_LABEL + 1];
	uint64_t token;
	uint32_t add; /* the owner's add that made the item; 0: a renewed item,
		       * with the token */
	uint32_t limit;
	uint64_t until_s; /* of a mark */
	int slots;        /* of a mark: so many slots may be taken, if these
			   * are more than the limit says */
	uint64_t cas;
	int64_t left_s; /* -1: unknown */
};

/* How many slots a lock has. */
int dlki_memc_slots(const struct dlk_request *request);

/* Does the request ask for several permits? */
int dlki_memc_several(const struct dlk_request *request);

/* Are there more permits than slots?  1: err is ENOTSUP. */
int dlki_memc_is_too_many(const struct dlk_request *request,
			  struct dlk_error *err);

/* Print an item's key; `stem`: the beginning of every key. */
void dlki_memc_key(const char *stem, size_t stem_len,
		   const struct dlk_request *request, int slot,
		   char out[MEMC_KEY_SIZE]);

/* Print the text of an item; return the length.  `limit`: the request's, or at
 * the gate a memc_word. */
size_t dlki_memc_item_print(char out[MEMC_TEXT_SIZE],
			    const struct dlk_request *request, uint64_t token,
			    uint32_t add, uint32_t limit);
/* Print the text of `mark`, with another end. */
size_t dlki_memc_mark_print(char out[MEMC_TEXT_SIZE],
			    const struct memc_item *mark, uint64_t until_s);
void dlki_memc_item_parse(struct memc_item *item, const char *text);

/* Return the slot from which a request looks for a free one: readers begin at
 * different slots, out of each other's way; permits at the first, so that a
 * client with another number of permits is seen. */
int dlki_memc_first_slot(const struct dlk_request *request);

/* Show the item as a participant; `id` and the item are borrowed.  The item at
 * a semaphore's gate has the number of permits in the token's place. */
struct dlock_participant dlki_memc_item_show(const struct memc_item *item,
					     const struct dlk_request *request,
					     int slot, int waits, char id[16]);

#endif
