/* SPDX-License-Identifier: Apache-2.0 */
#include "memcached/fleet/pools.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/uri.h"
#include "core/uri/uri.h"

extern const struct dlock_backend dlki_memcached_backend;

static struct memc_pool *make(const char *text, struct dlk_error *err)
{
	struct memc_pool *pool;
	struct dlk_uri *uri;

	if (dlki_uri_parse(&uri, text, dlki_memcached_backend.params, NULL,
			   err) != 0)
		return NULL;
	pool = dlki_memc_pool_new(uri, err);
	dlki_uri_free(uri);
	return pool;
}

struct memc_pool *pool_of(const char *uri)
{
	struct dlk_error err = { 0 };
	struct memc_pool *pool = make(uri, &err);

	cr_assert(pool, "%s: %s", uri, err.text);
	return pool;
}

void pool_refused(const char *uri, int code, const char *why)
{
	struct dlk_error err = { 0 };

	cr_assert_null(make(uri, &err), "%s was taken", uri);
	cr_assert_eq(err.code, code, "%s: %d", uri, err.code);
	cr_assert(strstr(err.text, why), "%s: %s", uri, err.text);
}

const char *uri_of_options(const char *options)
{
	static char uri[8192];
	size_t n = (size_t)snprintf(uri, sizeof(uri), "memcached:///?pool=");

	for (const char *s = options; *s; s++)
		n += (size_t)snprintf(uri + n, sizeof(uri) - n,
				      strchr(" =?&\"", *s) ? "%%%02X" : "%c",
				      (unsigned int)(unsigned char)*s);
	return uri;
}
