/* SPDX-License-Identifier: Apache-2.0 */
/* Acquiring a slot: a reader's, or one of a semaphore's permits. */
#ifndef DLOCK_BACKENDS_MEMCACHED_SLOT_H
#define DLOCK_BACKENDS_MEMCACHED_SLOT_H

#include "batch.h"

/* One attempt. */
struct memc_attempt {
	struct memc_ticket *t;
	const struct memc_conn *c;
	enum dlk_verdict verdict;
	char foreign[MEMC_KEY_SIZE]; /* an item that dlock did not write, or
				      * "" */
	int readers;    /* of a writer: some slot is taken */
	/* Of slots only: what a survey saw. */
	int gate_taken;
	int mine;       /* the slot that is ours; -1: none */
	uint32_t limit; /* of others, if it is not ours */
	int again;      /* the mark is not as it must be, or not for long */
	struct memc_op own, mark;
	unsigned char taken[MEMC_PERMITS];
};

/* Acquire a slot, and say in a->verdict what came of it; FAILED: see err. */
int dlki_memc_attempt_slot(struct memc_conn *c, struct memc_attempt *a,
			   dlk_time deadline, struct dlk_error *err);

/* If dlock did not write the item of `op`, remember its key. */
void dlki_memc_note_foreign(struct memc_attempt *a, const struct memc_op *op);

#endif
