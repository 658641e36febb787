/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upgrade is an exclusive node at the end of the queue.  The node of the
 * reader beside the upgrade is not in the way, and the waiters ahead have to
 * queue again.
 */
#ifndef DLOCK_BACKENDS_ZK_UPGRADE_H
#define DLOCK_BACKENDS_ZK_UPGRADE_H

#include "backends/zk/attempt.h"

struct zk_queue;

/* Of the first `ahead` participants, leave the participants in the way of the
 * upgrade, and return how many they are. */
size_t dlki_zk_upgrade_sees(const struct zk_attempt *a, struct zk_queue *queue,
			    size_t ahead);

/* With the session locked: the ticket's node is behind `*ahead` others.  0:
 * `*ahead` is as dlki_zk_upgrade_sees() returns it.  ZK_LATER: waiters were
 * ahead, and fewer are now: list the queue again. */
int dlki_zk_upgrade_advance(struct zk_attempt *a, struct zk_queue *queue,
			    size_t *ahead);

#endif
