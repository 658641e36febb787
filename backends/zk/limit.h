/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set number of permits.  With the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_LIMIT_H
#define DLOCK_BACKENDS_ZK_LIMIT_H

#include "backends/zk/attempt.h"
#include "backends/zk/queue.h"

/* Set queue->limit, of a queue in order, as of the listing.  Returns 0, an
 * error, or 1: the queue has changed meanwhile. */
int dlki_zk_limit_find(struct zk_session *s, struct zk_queue *queue,
		       const char *dir, const struct zk_call *children,
		       dlk_time deadline, struct dlk_error *err);

/* Have the ticket's node carry the set number of the queue, if it does not yet.
 * Results as before. */
int dlki_zk_limit_carry(struct zk_attempt *a, const struct zk_queue *queue);

/* Set the number for the queue's participants, and wake the waiters.  Results
 * as before. */
int dlki_zk_limit_set(struct zk_session *s, const struct zk_queue *queue,
		      const char *dir, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);

#endif
