/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops on their way: queues, and the end of each.
 */
#ifndef DLOCK_CORE_LOOP_OPS_H
#define DLOCK_CORE_LOOP_OPS_H

#include "core/loop/state.h"

/* The op is in FLIGHT on the link from now on, in the slot `serial`. */
void dlki_ops_sent(struct dlki_op *op, struct dlki_link *l, uint64_t serial);

/* End an op that is QUEUED, HELD or in FLIGHT; done() is due then. */
void dlki_ops_end(struct dlki_op *op, enum dlki_outcome outcome,
		  enum dlki_residue residue);

/* No byte of the request was sent: the op is QUEUED again, first of all; or
 * ends UNANSWERED if an earlier request of the op was. */
void dlki_ops_requeue(struct dlki_op *op);

/* The main link is lost: end the ops sent before, and QUEUED or HELD again. */
void dlki_ops_end_begun(struct dlki_engine *e);

/* The server refuses the latest connection of the main link: end every unsent
 * op FAILED with `err`.  An op submitted while the connection was under way
 * waits for the next connection, unless the engine is refused for good: the
 * refusal may be older than the op. */
void dlki_ops_fail_queue(struct dlki_engine *e, const struct dlk_error *err);

/* Call done() of the ended ops. */
void dlki_ops_deliver(struct dlki_engine *e);

#endif
