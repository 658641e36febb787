/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One queue a lock: its holders and waiters in the order in which they asked.
 * All functions need dlki_mem_mu.
 */
#ifndef DLOCK_BACKENDS_MEM_QUEUE_H
#define DLOCK_BACKENDS_MEM_QUEUE_H

#include "backends/mem/mem.h"

struct mem_queue {
	struct mem_ticket *first, **last;
	uint32_t limit;  /* permits, as its participants name them ... */
	int is_set;      /* ... or an operator has set them */
	enum dlk_kind kind;
	uint64_t last_token; /* none that it gives is below; see token.h */
	char *name;      /* for people; behind key */
	char key[];      /* namespace, prefix, request's key */
};

/* Protects all queues and tickets.  A leaf, except for the core's services,
 * which are called with it held. */
extern pthread_mutex_t dlki_mem_mu;

/* In a forked child: the queues are the parent's, and of no use here. */
void dlki_mem_queues_forget(void);

/* Append the ticket to its lock's queue, which is created if need be. */
int dlki_mem_enqueue(struct mem_ticket *t, struct dlk_error *err);

/* Remove the ticket, and wake the waiters whose turn it is now. */
void dlki_mem_dequeue(struct mem_ticket *t);

/* Remove the holders whose leases have ended, and wake as above. */
void dlki_mem_expire(struct mem_queue *queue, dlk_time now);

/* Wake the waiters whose turn it is. */
void dlki_mem_wake(struct mem_queue *queue);

/* Does this waiter want more permits than the semaphore has? */
static inline int dlki_mem_wants_too_many(const struct mem_ticket *t)
{
	return !t->granted && t->queue->limit > 0 &&
	       t->base.request.permits > t->queue->limit;
}

/* Is it this waiter's turn?  1, 0, or ENOMEM. */
int dlki_mem_is_turn(const struct mem_ticket *t, struct dlk_error *err);

/* The queue of a request, or NULL. */
struct mem_queue *dlki_mem_find(const struct mem_session *s,
				const struct dlk_request *request);

/* Call `each` for every lock of the session's namespace. */
void dlki_mem_each(const struct mem_session *s,
		   void (*each)(const struct dlock_lock_info *e, void *arg),
		   void *arg);

#endif
