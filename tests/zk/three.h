/* SPDX-License-Identifier: Apache-2.0 */
/* An ensemble of three servers, and clients of all three. */
#ifndef DLOCK_TESTS_ZK_THREE_H
#define DLOCK_TESTS_ZK_THREE_H

#include "lab/servers/ensemble.h"
#include "zk/support.h"

/* CASE() ends all that these functions make. */
struct lab_ensemble *ensemble(const struct lab_zk_options *options);
struct lab_ensemble *linked_ensemble(const struct lab_zk_options *options);

/* Make a proxy to each node. */
void make_ways(struct lab_proxy *way[LAB_NODES], const struct lab_ensemble *e);

/* Open a client with all nodes in the URI; client_at(): over the ways, with
 * the first connection to that node. */
dlock_client *client_of_all(const struct lab_ensemble *e, const char *params);
dlock_client *client_at(struct lab_proxy *const way[LAB_NODES], int node,
			const char *params);

/* Open a client of a follower of a new ensemble, over *way, on which each chunk
 * takes `ms`, there and back, once the client has taken the mutex "lock" and
 * given it back. */
dlock_client *slow_client(struct lab_proxy **way, const char *params,
			  int64_t ms);

/* Return $DLOCK_TEST_ROUNDS, or `otherwise`. */
int rounds(int otherwise);

#endif
