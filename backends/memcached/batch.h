/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on items, and batches of them, each one round trip. */
#ifndef DLOCK_BACKENDS_MEMCACHED_BATCH_H
#define DLOCK_BACKENDS_MEMCACHED_BATCH_H

#include "item.h"

#define MEMC_BATCH_MAX (MEMC_READERS + 2)

enum memc_verb {
	MEMC_ADD,  /* put the ticket's item there if there is none; get */
	MEMC_SWAP, /* put it in the place of the item with this cas; get */
	MEMC_GET,
	MEMC_DROP /* remove the item with this cas */
};

enum memc_answer {
	MEMC_DONE,    /* never of a get */
	MEMC_MINE,    /* not done; the item there is the ticket's */
	MEMC_OTHER,   /* not done; another item is there */
	MEMC_MISSING, /* not done; there is none */
	MEMC_NO_ROOM  /* not done; it needs memory that the server lacks */
};

struct memc_op {
	enum memc_verb verb;
	const struct dlk_request *request;
	int slot;
	uint64_t cas;   /* of SWAP and DROP */
	uint64_t token; /* of SWAP: the one that the claim has */
	uint32_t add;   /* of ADD: which one of the ticket's it is */
	enum memc_answer answer;
	/* Of MINE and OTHER, and of ADD and SWAP DONE.  In: of the SWAP of a
	 * mark, what it is to say. */
	struct memc_item item;
};

struct memc_op dlki_memc_op(enum memc_verb verb,
			    const struct dlk_request *request, int slot);

/*
 * Carry out up to MEMC_BATCH_MAX operations in their order, in one round trip.
 * A failure leaves open which of them were carried out; the connection is
 * spoilt then.
 */
int dlki_memc_run(struct memc_conn *c, struct memc_op *ops, size_t n,
		  dlk_time deadline, struct dlk_error *err);

/* Get what is at the places from `first`, which may be MEMC_MARK or MEMC_GATE,
 * to below `slots`.  `each` sees every operation; what it returns, if not 0,
 * ends the survey. */
int dlki_memc_survey(struct memc_conn *c, const struct dlk_request *request,
		     int first, int slots,
		     int (*each)(struct memc_op *op, void *arg), void *arg,
		     dlk_time deadline, struct dlk_error *err);

/* Remember in the ticket that the item of `op` is its own. */
void dlki_memc_own(struct memc_ticket *t, const struct memc_conn *c,
		   const struct memc_op *op);

#endif
