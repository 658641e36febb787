/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place in the queue.  With the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_POSITION_H
#define DLOCK_BACKENDS_ZK_POSITION_H

#include "backends/zk/attempt.h"
#include "backends/zk/queue.h"

/* Judge the place behind the first `ahead` participants.  Returns ZK_LATER:
 * list the queue again; or 0 with a verdict.  DLK_GRANTED: take the lock.
 * DLK_BUSY: the ticket watches the nodes in the way, but for a try's. */
int dlki_zk_position_judge(struct zk_attempt *a, const struct zk_queue *queue,
			   size_t ahead, enum dlk_verdict *verdict);

#endif
