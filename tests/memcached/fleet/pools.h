/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of URIs, and what is refused. */
#ifndef DLOCK_TESTS_MEMCACHED_FLEET_POOLS_H
#define DLOCK_TESTS_MEMCACHED_FLEET_POOLS_H

#include "backends/memcached/pool/pool.h"

/* The pool of a URI; the test fails without one. */
struct memc_pool *pool_of(const char *uri);

/* No pool comes of the URI: the message has this in it. */
void pool_refused(const char *uri, int code, const char *why);

/* An options string as a URI has it; static. */
const char *uri_of_options(const char *options);

#endif
