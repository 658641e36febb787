/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of connections: each is used by one thread at a time, the one that was
 * used last is used next, and what a request has spoilt is never used again.
 *
 * Up to `max` are open at once, those that are being opened or closed included;
 * who finds all of them in use waits for one until its deadline.  Who comes
 * later may be quicker once, but not twice: nobody waits for ever.  A thread
 * that is the only one never waits and never meets a contended lock.
 */
#ifndef DLOCK_CORE_POOL_H
#define DLOCK_CORE_POOL_H

#include <dlock/backend.h>
#include <stddef.h>

struct dlki_pool;

/* First member of a connection. */
struct dlki_pooled {
	struct dlki_pooled *next; /* the pool's */
	dlk_time idle_since;      /* the pool's */
	uint64_t generation;      /* the pool's; see dlki_pool_renew() */
};

/* Called without any lock of the pool's, for several connections at once. */
struct dlki_pool_type {
	/* Make and connect one.  NULL: see err. */
	struct dlki_pooled *(*open)(void *arg, dlk_time deadline,
				    struct dlk_error *err);
	void (*close)(struct dlki_pooled *c);

	/* Is one that was idle for a while still good?  Must not block.  NULL:
	 * it is.  Not asked about one that was used within the last second,
	 * unless another was given back spoilt after that: such a one may turn
	 * out dead by the request that uses it. */
	int (*usable)(struct dlki_pooled *c);
};

/* `max` >= 1; idle connections beyond `keep` are closed when they are given
 * back.  `type` is borrowed.  NULL: no memory. */
struct dlki_pool *dlki_pool_new(const struct dlki_pool_type *type, void *arg,
				size_t max, size_t keep);

/* Nobody uses any of its connections.  NULL is a no-op. */
void dlki_pool_free(struct dlki_pool *p);

/*
 * Take one, idle or new.  *fresh (may be NULL) says whether it is new: a
 * request that fails on one that was idle may be sent again on a new one, if
 * the store has not seen it.  NULL: see err; what open() said, or EUNREACHABLE
 * when all were in use until the deadline.
 */
struct dlki_pooled *dlki_pool_take(struct dlki_pool *p, dlk_time deadline,
				   int *fresh, struct dlk_error *err);

/* Give it back; `good` if the next may use it, else it is closed. */
void dlki_pool_give(struct dlki_pool *p, struct dlki_pooled *c, int good);

/* Those that are idle now, and those in use or being opened when they are given
 * back, are closed: the server behind them has changed. */
void dlki_pool_renew(struct dlki_pool *p);

#endif
