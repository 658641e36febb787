/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of URIs, and refusals. */
#ifndef DLOCK_TESTS_MEMCACHED_FLEET_POOLS_H
#define DLOCK_TESTS_MEMCACHED_FLEET_POOLS_H

#include "backends/memcached/pool/pool.h"

/* Return the pool of a URI, or fail the test. */
struct memc_pool *pool_of(const char *uri);

/* The URI must be refused with `why` in the message. */
void pool_refused(const char *uri, int code, const char *why);

/* Return the URI with an options string; static. */
const char *uri_of_options(const char *options);

#endif
