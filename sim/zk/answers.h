/* SPDX-License-Identifier: Apache-2.0 */
/* Requests are read, and answered. */
#ifndef DLOCK_SIM_ZK_ANSWERS_H
#define DLOCK_SIM_ZK_ANSWERS_H

#include "sim/zk/jute.h"
#include "sim/zk/state.h"

/* Read a request behind the length.  Returns 0 if the server is to close the
 * connection instead. */
int zk_request_read(struct zk_in *in, struct zk_op *op);

int zk_is_write(enum zk_type type);

/* Answer a request.  A write has been carried out. */
void zk_answer(struct sim_zk_conn *c, const struct zk_op *op);

#endif
