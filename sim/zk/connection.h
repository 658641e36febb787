/* SPDX-License-Identifier: Apache-2.0 */
/* A client's connection: answers leave in the order of the requests. */
#ifndef DLOCK_SIM_ZK_CONNECTION_H
#define DLOCK_SIM_ZK_CONNECTION_H

#include "sim/zk/state.h"

/* The leader has answered the first waiting request: `op` as the leader
 * completed it. */
void zk_connection_ready(struct sim_zk_conn *c, const struct zk_op *op);

/* Answer requests up to the first which waits. */
void zk_connection_answer(struct sim_zk_conn *c);

/* The connection has a session; NULL: the session is unknown. */
void zk_connection_begun(struct sim_zk_conn *c, const struct zk_session *one);

/* The server closes the connection after the output. */
void zk_connection_close(struct sim_zk_conn *c);

/* Forget the requests that wait. */
void zk_connection_forget(struct sim_zk_conn *c);

#endif
