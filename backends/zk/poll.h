/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls: attempts without a watch as cause.  With the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_POLL_H
#define DLOCK_BACKENDS_ZK_POLL_H

#include "backends/zk/zk.h"

/* BUSY: the ticket's watches are set.  Sets the time of the next poll. */
enum dlk_verdict dlki_zk_busy(const struct zk_session *s, struct zk_ticket *t);
/* 1: no watch has fired, and the ticket's own node and all nodes it waits for
 * stand.  The connection may have gone meanwhile. */
int dlki_zk_poll(struct zk_session *s, const struct zk_ticket *t,
		 dlk_time deadline);

#endif
