/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing items of a lock: all that a ticket may have, or, to break the lock,
 * all that are not younger than a token.
 */
#ifndef DLOCK_BACKENDS_MEMCACHED_SWEEP_H
#define DLOCK_BACKENDS_MEMCACHED_SWEEP_H

#include "batch.h"

struct memc_sweep {
	struct memc_ticket *t; /* NULL: break the lock */
	struct memc_conn *c;
	const struct dlk_request *request;
	uint64_t last; /* to break: an item with a larger token stays */
	struct memc_op drop[MEMC_BATCH_MAX];
	int granted[MEMC_BATCH_MAX]; /* and that is what was granted */
	size_t n;
	int more;    /* something changed in the meantime */
	int dropped; /* what was granted was there, and is no more */
	dlk_time deadline;
	struct dlk_error *err;
};

void dlki_memc_sweep_init(struct memc_sweep *w, struct memc_conn *c,
			  const struct dlk_request *request, dlk_time deadline,
			  struct dlk_error *err);

/* Get all items of the lock and remove those that are meant, until nothing has
 * changed in the meantime. */
int dlki_memc_sweep_all(struct memc_sweep *w);

#endif
