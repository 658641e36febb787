/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of operations on items, each one round trip. */
#ifndef DLOCK_BACKENDS_MEMCACHED_BATCH_H
#define DLOCK_BACKENDS_MEMCACHED_BATCH_H

#include "conn.h"

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

#endif
