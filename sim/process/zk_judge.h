/* SPDX-License-Identifier: Apache-2.0 */
/* The transactions that dlock's clients may make. */
#ifndef DLOCK_SIM_PROCESS_ZK_JUDGE_H
#define DLOCK_SIM_PROCESS_ZK_JUDGE_H

#include "sim/zk/op.h"
#include "sim/zk/tree.h"

/*
 * The transaction is about to be carried out.  A flaw is:
 * - to forget a set number of permits that a node carries;
 * - to have a node carry a number that no other node carries;
 * - to delete, in a transaction of many writes, the node of a holder or of an
 *   upgrade, or any node without an upgrade of the session behind.
 */
void sim_zk_judge(const struct zk_tree *t, const struct zk_op *op);

#endif
