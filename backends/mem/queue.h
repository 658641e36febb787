/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue for each lock: holders and waiters in the order of their asking.  All
 * functions need dlki_mem_mu.
 */
#ifndef DLOCK_BACKENDS_MEM_QUEUE_H
#define DLOCK_BACKENDS_MEM_QUEUE_H

#include "backends/mem/mem.h"

struct mem_queue {
	TAILQ_HEAD(, mem_ticket) tickets;
	dlk_time ends;   /* no lease of a holder or an orphan ends before */
	int64_t ttl_ms;  /* of the shortest lease to be granted; 0: no leases */
	uint32_t limit;  /* permits, as the participants name them ... */
	int is_set;      /* ... or an operator has set them */
	enum dlk_kind kind;
	uint64_t last_token; /* all later tokens are larger; see token.h */
	const char *key, *name; /* the request's */
	const char *space;      /* namespace and prefix: the session's */
	char texts[];           /* all three */
};

/* Protects all queues and tickets.  A leaf, except for the core's services,
 * which are called with the mutex held. */
extern pthread_mutex_t dlki_mem_mu;

/* Forget the queues, in a forked child: they are the parent's. */
void dlki_mem_queues_forget(void);

/* Append the ticket to the lock's queue, which is created if need be. */
int dlki_mem_enqueue(struct mem_ticket *t, struct dlk_error *err);

/* Remove the ticket, and wake the next waiters in turn. */
void dlki_mem_dequeue(struct mem_ticket *t);

/* Note the end of a lease of a holder or an orphan. */
static inline void dlki_mem_note_end(struct mem_queue *queue, dlk_time end)
{
	if (end < queue->ends)
		queue->ends = end;
}

/* Remove the holders with ended leases. */
void dlki_mem_expire(struct mem_queue *queue, dlk_time now);

/* Wake the waiters that can be granted now. */
void dlki_mem_wake(struct mem_queue *queue);

/* Does this waiter want more permits than the semaphore has? */
static inline int dlki_mem_wants_too_many(const struct mem_ticket *t)
{
	return !t->granted && t->queue->limit > 0 &&
	       t->base.request.permits > t->queue->limit;
}

/* Can this waiter be granted? */
int dlki_mem_is_turn(const struct mem_ticket *t);

/* Find the queue of a request, or NULL. */
struct mem_queue *dlki_mem_find(const struct mem_session *s,
				const struct dlk_request *request);

/* Call `each` for every lock of the session's namespace. */
void dlki_mem_each(const struct mem_session *s,
		   void (*each)(const struct dlock_lock_info *e, void *arg),
		   void *arg);

#endif
