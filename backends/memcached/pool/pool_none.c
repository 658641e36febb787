/* SPDX-License-Identifier: Apache-2.0 */
/* Pools in a build without libmemcached. */
#include "backends/memcached/pool/pool.h"

struct memc_pool *dlki_memc_pool_new(const struct dlk_uri *uri,
				     struct dlk_error *err)
{
	(void)uri;
	dlk_fail(err, DLOCK_ENOTSUP,
		 "memcached: this build of dlock has no fleets; configure with "
		 "-DDLOCK_FLEETS=ON, or give one server");
	return NULL;
}

void dlki_memc_pool_free(struct memc_pool *pool)
{
	(void)pool;
}

size_t dlki_memc_pool_size(const struct memc_pool *pool)
{
	(void)pool;
	return 0;
}

struct memc_member dlki_memc_pool_member(const struct memc_pool *pool, size_t i)
{
	(void)pool;
	(void)i;
	return (struct memc_member){ "", 0, 1 };
}

size_t dlki_memc_pool_place(const struct memc_pool *pool, const char *name)
{
	(void)pool;
	(void)name;
	return 0;
}

const char *dlki_memc_pool_method(const struct memc_pool *pool)
{
	(void)pool;
	return "";
}
