/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool: the servers of a fleet, and which of them keeps a name.
 *
 * libmemcached places names: a pool has the servers, the distribution and the
 * hash of an application's memcached_st, and a lock is on the server where that
 * memcached_st keeps the key of the lock's name.  The pool sends no request.
 *
 * A pool never changes, and any thread may use it.
 */
#ifndef DLOCK_MEMCACHED_POOL_H
#define DLOCK_MEMCACHED_POOL_H

#include <dlock/backend.h>
#include <stddef.h>

/* libmemcached's ketama takes no more servers. */
enum { MEMC_MEMBERS = 100 };

struct memc_member {
	const char *name; /* the host as it is spelled, or a socket's path */
	uint16_t port;    /* 0: a unix socket */
	uint32_t weight;  /* 1 where weights place nothing */
};

struct memc_pool;

/* Does the URI name a pool, if only of one server? */
int dlki_memc_pool_is(const struct dlk_uri *uri);

/* Make the pool.  NULL: see err.  ENOTSUP: this build has no libmemcached. */
struct memc_pool *dlki_memc_pool_new(const struct dlk_uri *uri,
				     struct dlk_error *err);
void dlki_memc_pool_free(struct memc_pool *pool);

size_t dlki_memc_pool_size(const struct memc_pool *pool);
struct memc_member dlki_memc_pool_member(const struct memc_pool *pool,
					 size_t i);

/* Return the member that keeps the name. */
size_t dlki_memc_pool_place(const struct memc_pool *pool, const char *name);

/* Return how names are placed, members aside: "modula crc -", the distribution,
 * the hash, and the namespace that is hashed with each name. */
const char *dlki_memc_pool_method(const struct memc_pool *pool);

#endif
