/* SPDX-License-Identifier: Apache-2.0 */
/* Which server leads, and the election of another. */
#ifndef DLOCK_SIM_ZK_ELECTION_H
#define DLOCK_SIM_ZK_ELECTION_H

#include "sim/zk/state.h"

/* The leader, or the only server; also while it is being elected. */
struct zk_server *zk_leader(struct sim_zk *s);

/* Is the server connected with the leader? */
int zk_is_follower(const struct zk_server *server);

/* Was the server the leader, and goes on by itself? */
int zk_is_alone(const struct zk_server *server);

/* Return the sessions as the leader of the server knows them. */
struct zk_sessions *zk_sessions_of(struct zk_server *server);

/* Is there no leader? */
int zk_is_electing(const struct sim_zk *s);

/* The followers, which have stopped, leave the leader: see sim_zk_elect(). */
void zk_election_begin(struct sim_zk *s, int n, int64_t until_us,
		       int64_t alone_until_us);

/* When zk_election_ring() has something to do, in up_us. */
int64_t zk_election_due(const struct sim_zk *s);

/* End what is over by now. */
void zk_election_ring(struct sim_zk *s);

/* All servers are connected with the leader at once. */
void zk_election_end(struct sim_zk *s);

#endif
