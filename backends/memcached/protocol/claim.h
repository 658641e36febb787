/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol's knowledge of a claim, from the first attempt to the
 * release. */
#ifndef DLOCK_MEMCACHED_PROTOCOL_CLAIM_H
#define DLOCK_MEMCACHED_PROTOCOL_CLAIM_H

#include "backends/memcached/protocol/op.h"

enum memc_owned { MEMC_NOTHING, MEMC_AT_GATE, MEMC_IN_SLOT };

struct memc_claim {
	enum memc_owned owned; /* the item that the claim has for certain */
	int slot;
	uint64_t cas;          /* of that item */
	uint64_t born_s;       /* the run of the server with the item */
	uint64_t epoch;        /* ... and the server's */
	uint64_t token;        /* of the grant */
	uint32_t limit;        /* of a semaphore: the valid limit, as the mark
				* last said */
	int most;              /* ... all items of the claim are in so many
				* slots */
	uint32_t adds;         /* sent so far */
	uint32_t add;          /* the add that made the granted item */
	int asked;
	int unclear;           /* a reply was lost: there may be more items */
	int looks;             /* early looks so far; see looks.h */
	int watched;           /* renewals look for a wish */
	char in_the_way[33];   /* of a waiter: the owner at the gate */
	dlk_time wish_at;      /* ... and when to leave that owner a wish */
	char mark_owner[33];   /* a reader's: the owner of the mark */
	uint32_t mark_add;
};

/* Take the item of `op` for the claim's own. */
void dlki_memc_claim_own(struct memc_claim *claim, const struct memc_run *run,
			 const struct memc_op *op);

/* Also take the token and the add of the item. */
void dlki_memc_claim_accept(struct memc_claim *claim,
			    const struct memc_run *run,
			    const struct memc_op *op);

/* Is this item, of the claim's owner, the granted item?  An add that arrives
 * late, behind a loss of all items, makes another item.  The token alone does
 * not tell: up to 1.6.23 a server that moves an item changes the cas. */
int dlki_memc_claim_granted(const struct memc_claim *claim,
			    const struct memc_item *item);

/* Note that a waiter was refused because of `owner`.  1: time to leave a
 * wish. */
int dlki_memc_claim_wishes(struct memc_claim *claim, const char *owner,
			   dlk_time now);

#endif
