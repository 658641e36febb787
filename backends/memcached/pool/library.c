/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/pool/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* The version of the interface in the headers. */
#define SONAME "libmemcached.so.11"

struct memc_library dlki_libmemcached;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int loaded;

static int find(void *from, const char *name, void *function, size_t size,
		struct dlk_error *err)
{
	void *at = dlsym(from, name);

	if (!at)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"memcached: " SONAME " has no %s", name);
	memcpy(function, &at, size);
	return 0;
}

/* Load the library for good: exit() may call the library's atexit() functions
 * at any time. */
static int load(struct dlk_error *err)
{
	void *from = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	int rc = 0;

	if (!from)
		return dlk_fail(
			err, DLOCK_ENOTSUP,
			"memcached: a fleet needs libmemcached (on "
			"Debian: apt-get install libmemcached11): %.120s",
			dlerror());
#define FIND(name)                                                             \
	if (rc == 0)                                                           \
		rc = find(from, #name, &dlki_libmemcached.name,                \
			  sizeof(dlki_libmemcached.name), err);
	MEMC_FUNCTIONS(FIND)
#undef FIND
	return rc;
}

int dlki_libmemcached_load(struct dlk_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&mu);
	if (!loaded)
		rc = load(err);
	loaded = rc == 0;
	pthread_mutex_unlock(&mu);
	return rc;
}
