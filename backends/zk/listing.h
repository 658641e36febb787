/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue, with the set number of permits.  With the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_LISTING_H
#define DLOCK_BACKENDS_ZK_LISTING_H

#include "backends/zk/queue.h"

/* As dlki_zk_queue_from().  Returns 0, an error, or 1: the queue has changed
 * meanwhile, list again. */
int dlki_zk_listing_queue(struct zk_session *s, struct zk_queue *out,
			  const char *dir, const struct zk_call *children,
			  dlk_time deadline, struct dlk_error *err);

/* List the queue, until two reads agree.  The queue of a lock never used is
 * empty.  Returns 0 or an error. */
int dlki_zk_listing_read(struct zk_session *s, const char *dir,
			 struct zk_queue *out, dlk_time deadline,
			 struct dlk_error *err);

#endif
