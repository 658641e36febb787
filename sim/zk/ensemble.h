/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of an ensemble, and the messages between them. */
#ifndef DLOCK_SIM_ZK_ENSEMBLE_H
#define DLOCK_SIM_ZK_ENSEMBLE_H

#include "sim/zk/state.h"

void zk_ensemble_begin(struct sim_zk *s);
void zk_ensemble_end(struct sim_zk *s);

/* When zk_ensemble_ring() has something to do, in up_us. */
int64_t zk_ensemble_due(const struct sim_zk *s);
void zk_ensemble_ring(struct sim_zk *s);

/* Make and carry out a transaction at the leader; the followers follow.
 * `conn`: the connection that has asked, or 0. */
void zk_ensemble_commit(struct sim_zk *s, struct zk_op *op, uint64_t conn);

/* The client of a connection asks for a session: a new one, or `id`. */
void zk_ensemble_begin_session(struct sim_zk_conn *c, int32_t timeout_ms,
			       int64_t id, const char *password);

/* A request has come over a connection that has a session. */
void zk_ensemble_request(struct sim_zk_conn *c, const struct zk_op *op);

/* The followers stop: transactions under way arrive before, other messages
 * never. */
void zk_ensemble_stop(struct sim_zk *s);

/* Return the time of the leader's sessions. */
int64_t zk_ensemble_up_ms(const struct sim_zk *s);

#endif
