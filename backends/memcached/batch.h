/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verb for many tickets, at all servers at once: a silent server takes no
 * time from the others.  One batch at a time.
 *
 * A batch in parts returns when a single server has answered, or none for a
 * moment, and goes on with the next call: with the tickets of the servers left,
 * and with more.
 */
#ifndef DLOCK_MEMCACHED_BATCH_H
#define DLOCK_MEMCACHED_BATCH_H

#include "backends/memcached/memcached.h"

struct memc_batch {
	struct memc_session *session;
	struct dlk_ticket *const *tickets; /* without a server: left out */
	size_t n;
	dlk_time deadline; /* 0: end what is under way */
	int no_wait;       /* a batch in parts returns at once */

	/* Add the ticket's op, or leave the ticket out.  The server's mutex is
	 * held. */
	void (*add)(struct memc_batch *b, struct dlki_opcall *call,
		    struct memc_ticket *t);
	/* Take the result: the ticket's op has ended.  The server's mutex is
	 * held.  May be NULL. */
	void (*take)(struct memc_batch *b, struct dlki_opcall *call, size_t i);
	void *arg;
};

/* Begin the batch, and wait for all servers. */
void dlki_memc_batch(struct memc_batch *b);

/* Begin the batch, or go on and add the tickets that are not in it; and wait
 * until a single server has answered all, which is not `in_batch` any more, or
 * the deadline of its tickets has come.  With several servers, for a moment
 * only.  Tickets whose results are taken are not `in_batch` any more. */
void dlki_memc_batch_part(struct memc_batch *b);

#endif
