/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a pool, as each member keeps it:
 *     pool1 HASH I/N DISTRIBUTION HASH NAMESPACE MEMBER...
 * The server is member I of N.  The first HASH is of all the rest, of which
 * only the beginning may be there.  Digests are equal if and only if the pools
 * are: members, their order, their spelling and weights count.
 */
#ifndef DLOCK_MEMCACHED_POOL_DIGEST_H
#define DLOCK_MEMCACHED_POOL_DIGEST_H

#include "backends/memcached/pool/pool.h"

enum { MEMC_DIGEST = 240 };

#define MEMC_DIGEST_MAGIC "pool1 "

/* Print the digest of member `i`.  All single servers, with a pool or without
 * (NULL), have the same digest. */
void dlki_memc_digest(const struct memc_pool *pool, size_t i,
		      char out[MEMC_DIGEST]);

/* Say, for people, how the pool of the digest `theirs` differs from ours. */
void dlki_memc_digest_difference(const char *theirs, const char *ours,
				 char out[120]);

#endif
