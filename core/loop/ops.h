/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops on their way: queues, and the end of each.
 */
#ifndef DLOCK_CORE_LOOP_OPS_H
#define DLOCK_CORE_LOOP_OPS_H

#include "core/loop/state.h"

void dlki_ops_append(struct dlki_ops *q, struct dlki_op *op);
void dlki_ops_remove(struct dlki_ops *q, struct dlki_op *op);

/* End an op that is QUEUED or in FLIGHT; done() is due then. */
void dlki_ops_end(struct dlki_op *op, enum dlki_outcome outcome,
		  enum dlki_residue residue);

/* An op in FLIGHT of which no byte was sent is QUEUED again, first of all. */
void dlki_ops_requeue(struct dlki_op *op);

/* End every op of the queue FAILED with `err`. */
void dlki_ops_fail_queue(struct dlki_engine *e, const struct dlk_error *err);

/* Call done() of the ops that have ended so far; returns how many. */
size_t dlki_ops_deliver(struct dlki_engine *e);

#endif
