/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A try has more time for making nodes, and waits for other tries.  All of this
 * is called with the session locked.  The attempts of a request with a timeout,
 * the last attempt too, have no more time and do not wait.
 */
#ifndef DLOCK_BACKENDS_ZK_TRIES_H
#define DLOCK_BACKENDS_ZK_TRIES_H

#include "backends/zk/attempt.h"

struct zk_queue;

/* Begin: put the deadline off, if the try is the first over a connection. */
void dlki_zk_tries_begin(struct zk_attempt *a);
/* Nodes were made since `since`: put the deadline off. */
void dlki_zk_tries_prepared(struct zk_attempt *a, dlk_time since);

/* List the queue before the try makes a node: set a->no_dir and a->held.
 * Returns 0 or an error. */
int dlki_zk_tries_look(struct zk_attempt *a);

/* The try is busy behind the first `ahead` nodes.  1: only tries' nodes are in
 * the way, and a pause has passed: list the queue again. */
int dlki_zk_tries_await(struct zk_attempt *a, const struct zk_queue *queue,
			size_t ahead);

#endif
