/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on items, in the text protocol and the meta protocol: requests as
 * bytes, and answers from lines.  Pure.
 *
 * The protocols differ in two commands, the get and the removal.  `add` and
 * `cas` are the text protocol's in both: on a server that is full and must not
 * evict (-M) an `ms` that may only add deletes the item that was there, another
 * client's lock.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_OP_H
#define DLOCK_MEMCACHED_PROTOCOL_OP_H

#include "backends/memcached/protocol/item.h"
#include "backends/memcached/protocol/run.h"

#define MEMC_BATCH_MAX (MEMC_READERS + 2)
#define MEMC_OUT_SIZE 41984 /* room for so many */

enum memc_verb {
	MEMC_ADD,  /* put the claim's item in an empty place; get */
	MEMC_SWAP, /* put it in the place of the item with this cas; get */
	MEMC_GET,
	MEMC_DROP, /* remove the item with this cas */
	MEMC_DROP_META /* ... by the meta protocol, whatever the run speaks */
};

enum memc_answer {
	MEMC_DONE,    /* never of a get */
	MEMC_MINE,    /* not done; the item is the request's owner's */
	MEMC_OTHER,   /* not done; another item is there */
	MEMC_MISSING, /* not done; there is no item */
	MEMC_NO_ROOM  /* not done; the server lacks memory */
};

struct memc_op {
	enum memc_verb verb;
	const struct dlk_request *request;
	int slot;
	uint64_t cas;   /* of SWAP and DROP */
	uint64_t token; /* of SWAP: the claim's */
	uint32_t add;   /* of ADD: the number of the claim's add */
	uint32_t limit; /* of ADD and SWAP: as the item says, see limit.h; the
			 * SWAP of a mark has it in `item` */
	int has_lock;   /* of a SWAP at the gate: the owner has the lock */
	enum memc_answer answer;
	/* Of MINE and OTHER, and of ADD and SWAP DONE.  In: the new contents,
	 * for the SWAP of a mark. */
	struct memc_item item;
};

struct memc_op dlki_memc_op(enum memc_verb verb,
			    const struct dlk_request *request, int slot);

/* Is the operation an ADD or a SWAP? */
int dlki_memc_op_is_store(const struct memc_op *op);

/* Is the operation an ADD or a SWAP, and done? */
int dlki_memc_op_was_stored(const struct memc_op *op);

/* ---- Requests ------------------------------------------------------------ */

struct memc_out {
	size_t len;
	char bytes[MEMC_OUT_SIZE];
};

/* Append text to the request, which has room.  The formats are %s and
 * PRIu64. */
void dlki_memc_put(struct memc_out *out, const char *fmt, ...)
	DLOCK_PRINTF(2, 3);

void dlki_memc_op_put(struct memc_out *out, const struct memc_run *run,
		      const struct memc_op *op);

/* Ask for the version; `to_sasl`: a server with SASL answers at once. */
void dlki_memc_version_put(struct memc_out *out, int to_sasl);

/* Append user and password, by the text protocol's authentication. */
void dlki_memc_login_put(struct memc_out *out, const struct dlk_uri *uri);

/* Make sure of the witness, and get it: as an ADD. */
void dlki_memc_witness_put(struct memc_out *out, const struct dlk_uri *uri,
			   const char *witness);

/* ---- Answers ------------------------------------------------------------- */

enum memc_next {
	MEMC_LINE,      /* give the next line */
	MEMC_DATA,      /* give `size` bytes and the line end behind them */
	MEMC_READ,      /* the operation is answered */
	MEMC_UNEXPECTED /* the line is no answer */
};

struct memc_reading {
	int stored;    /* the first line said so */
	int gets;      /* the store's line has come, and the get's follows */
	int ends;      /* END must follow */
	uint64_t size; /* of the data */
	char full[80]; /* the line by which a store was refused for lack of
			* memory, or "" */
	char text[MEMC_TEXT_SIZE]; /* the beginning of the data */
};

void dlki_memc_reading_begin(struct memc_reading *r);

/* Read the next line of the answer, without the line end. */
enum memc_next dlki_memc_reading_line(struct memc_reading *r,
				      const struct memc_run *run,
				      struct memc_op *op, const char *line);

/* Read the data, which are in `text`, with a NUL behind. */
enum memc_next dlki_memc_reading_data(struct memc_reading *r,
				      const struct memc_run *run,
				      struct memc_op *op);

/* Does the item that an operation read have the unique number on which all
 * depends? */
int dlki_memc_op_has_cas(const struct memc_op *op);

/* Return the error code of an unexpected line; `first`: the server's first. */
int dlki_memc_unexpected(const char *peer, int first, const char *line,
			 struct dlk_error *err);

#endif
