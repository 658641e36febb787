/* SPDX-License-Identifier: Apache-2.0 */
#include "core/registry.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/nearest.h"
#include "core/uri/params.h"
#include "core/base/process.h"
#include "core/uri/uri.h"
#include "dlock_config.h"

/* A backend that is not built in is not defined. */
extern const struct dlock_backend dlki_mem_backend, dlki_file_backend,
	dlki_zk_backend, dlki_redis_backend, dlki_rediss_backend,
	dlki_memcached_backend, dlki_memcacheds_backend;

#define IF(built, backend) ((built) ? &(backend) : NULL)
#define MEM IF(DLOCK_HAVE_MEM, dlki_mem_backend)
#define FILE_ IF(DLOCK_HAVE_FILE, dlki_file_backend)
#define ZK IF(DLOCK_HAVE_ZK, dlki_zk_backend)
#define REDIS IF(DLOCK_HAVE_REDIS, dlki_redis_backend)
#define REDISS                                                                 \
	IF(DLOCK_HAVE_REDIS != 0 && DLOCK_HAVE_TLS != 0, dlki_rediss_backend)
#define MEMCACHED IF(DLOCK_HAVE_MEMCACHED, dlki_memcached_backend)
#define MEMCACHEDS                                                             \
	IF(DLOCK_HAVE_MEMCACHED != 0 && DLOCK_HAVE_TLS != 0,                   \
	   dlki_memcacheds_backend)

#define BUILD_WITH(option) "not built in; configure with -D" option "=ON"
#define BUILD_REDISS                                                           \
	(DLOCK_HAVE_REDIS ? BUILD_WITH("DLOCK_TLS") :                          \
			    BUILD_WITH("DLOCK_WITH_REDIS=ON -DDLOCK_TLS"))
#define BUILD_MEMCACHEDS                                                       \
	(DLOCK_HAVE_MEMCACHED ?                                                \
		 BUILD_WITH("DLOCK_TLS") :                                     \
		 BUILD_WITH("DLOCK_WITH_MEMCACHED=ON -DDLOCK_TLS"))

/* Known schemes; the message says how to build in a missing scheme. */
static const struct known {
	const char *scheme;
	const struct dlock_backend *backend;
	const char *summary;
	const char *missing;
} known[] = {
	{ "mem", MEM, "locks within this process",
	  BUILD_WITH("DLOCK_WITH_MEM") },
	{ "file", FILE_, "locks on this host", BUILD_WITH("DLOCK_WITH_FILE") },
	{ "zk", ZK, "a ZooKeeper ensemble", BUILD_WITH("DLOCK_WITH_ZK") },
	{ "redis", REDIS, "a Redis or Valkey server",
	  BUILD_WITH("DLOCK_WITH_REDIS") },
	{ "valkey", REDIS, "a Redis or Valkey server",
	  BUILD_WITH("DLOCK_WITH_REDIS") },
	{ "redis+unix", REDIS, "a Redis server on a unix socket",
	  BUILD_WITH("DLOCK_WITH_REDIS") },
	{ "rediss", REDISS, "a Redis or Valkey server over TLS", BUILD_REDISS },
	{ "valkeys", REDISS, "a Redis or Valkey server over TLS",
	  BUILD_REDISS },
	{ "memcached", MEMCACHED, "a memcached server",
	  BUILD_WITH("DLOCK_WITH_MEMCACHED") },
	{ "memcached+unix", MEMCACHED, "a memcached server on a unix socket",
	  BUILD_WITH("DLOCK_WITH_MEMCACHED") },
	{ "memcacheds", MEMCACHEDS, "a memcached server over TLS",
	  BUILD_MEMCACHEDS },
};

#define N_KNOWN (sizeof(known) / sizeof(known[0]))

/* The list only grows, at the head, so threads read it without a lock, also in
 * a forked child. */
static struct registered {
	const struct dlock_backend *backend;
	struct registered *next;
	char file[]; /* of the module, or "" */
} * _Atomic registered;

static int serves(const struct dlock_backend *b, const char *scheme)
{
	for (const char *const *s = b->schemes; *s; s++) {
		if (strcmp(*s, scheme) == 0)
			return 1;
	}
	return 0;
}

static const struct registered *find_registered(const char *scheme)
{
	for (struct registered *r = atomic_load(&registered); r; r = r->next) {
		if (serves(r->backend, scheme))
			return r;
	}
	return NULL;
}

static const struct known *find_known(const char *scheme)
{
	for (size_t i = 0; i < N_KNOWN; i++) {
		if (strcmp(known[i].scheme, scheme) == 0)
			return &known[i];
	}
	return NULL;
}

/* Other libraries' names for a store. */
static const struct {
	const char *said, *scheme;
} spellings[] = {
	{ "zookeeper", "zk" },
	{ "zoo", "zk" },
	{ "memcache", "memcached" },
	{ "memory", "mem" },
	{ "redis+tls", "rediss" },
	{ "valkey+tls", "valkeys" },
	{ "memcached+tls", "memcacheds" },
	{ "unix", "redis+unix" },
};

static const char *nearest(const char *scheme)
{
	const char *near = NULL;
	unsigned int least = DLKI_FAR;

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		if (strcmp(spellings[i].said, scheme) == 0)
			return spellings[i].scheme;
	}
	for (size_t i = 0; i < N_KNOWN; i++) {
		unsigned int far = dlki_distance(scheme, known[i].scheme);

		if (far < least) {
			least = far;
			near = known[i].scheme;
		}
	}
	return near;
}

static int unknown(const char *scheme, struct dlk_error *err)
{
	const char *near = nearest(scheme);

	if (near)
		return dlk_fail(err, DLOCK_EINVAL,
				"no store has the scheme "
				"'%s'; did you mean '%s'?",
				scheme, near);
	return dlk_fail(err, DLOCK_EINVAL,
			"no store has the scheme '%s'; see "
			"`dlock backends`",
			scheme);
}

int dlki_registry_find(const struct dlock_backend **out, const char *scheme,
		       struct dlk_error *err)
{
	const struct known *k = find_known(scheme);
	const struct registered *r = k ? NULL : find_registered(scheme);

	*out = k ? k->backend : r ? r->backend : NULL;
	if (*out)
		return 0;
	if (!k)
		return unknown(scheme, err);
	return dlk_fail(err, DLOCK_ENOTSUP, "%s: %s", scheme, k->missing);
}

/* ---- Registration -------------------------------------------------------- */

static int fail_taken(const char *scheme, struct dlk_error *err)
{
	const struct registered *r = find_registered(scheme);

	return dlk_fail(err, DLOCK_EINVAL, "the scheme '%s' is taken by %s",
			scheme,
			!r         ? "dlock's own store" :
			r->file[0] ? r->file :
				     "a backend of the program");
}

static int check_schemes(const struct dlock_backend *b, struct dlk_error *err)
{
	for (const char *const *s = b->schemes; *s; s++) {
		char parsed[DLKI_SCHEME_MAX + 1];
		char text[DLKI_SCHEME_MAX + 2];
		size_t n = strlen(*s);

		if (n == 0 || n > DLKI_SCHEME_MAX)
			return dlk_fail(err, DLOCK_EINVAL,
					"a scheme has 1 to %d bytes",
					DLKI_SCHEME_MAX);
		memcpy(text, *s, n);
		memcpy(text + n, ":", 2);
		if (dlki_uri_scheme(text, parsed, NULL) != 0 ||
		    strcmp(parsed, *s) != 0)
			return dlk_fail(err, DLOCK_EINVAL,
					"'%s' is no lower-case scheme: a-z "
					"first, then a-z, 0-9, '+', '-', '.'",
					*s);
		if (find_known(*s) || find_registered(*s))
			return fail_taken(*s, err);
	}
	return 0;
}

/* Begin the message with the file and the scheme, as far as known. */
static int blame(const struct dlock_backend *b, const char *file,
		 struct dlk_error *err)
{
	int named = b->size > offsetof(struct dlock_backend, schemes) &&
		    b->schemes && b->schemes[0];
	const char *scheme = named ? b->schemes[0] : "";
	struct dlk_error was = *err;

	if (file && strlen(file) > 80 && strrchr(file, '/'))
		file = strrchr(file, '/') + 1;
	if (file && named)
		return dlk_fail(err, was.code, "%s (%s): %s", file, scheme,
				was.text);
	return dlk_fail(err, was.code, "%s%s: %s", named ? "backend " : "",
			file  ? file :
			named ? scheme :
				"backend",
			was.text);
}

/* Enter the backend, unless a scheme of the backend is taken. */
static int enter(const struct dlock_backend *b, const char *file,
		 struct dlk_error *err)
{
	size_t size = strlen(file) + 1;
	struct registered *r = malloc(sizeof(*r) + size);
	int rc;

	if (!r)
		return dlki_nomem(err);
	r->backend = b;
	memcpy(r->file, file, size);
	r->next = atomic_load(&registered);
	/* Another thread may have taken a scheme meanwhile. */
	do {
		rc = check_schemes(b, err);
	} while (rc == 0 &&
		 !atomic_compare_exchange_strong(&registered, &r->next, r));
	if (rc != 0)
		free(r);
	return rc;
}

int dlki_registry_add(const struct dlock_backend *b, const char *file,
		      struct dlk_error *err)
{
	int rc;

	if (!b)
		return dlk_fail(err, DLOCK_EINVAL, "backend is NULL");
	rc = dlki_backend_check(b, err);
	if (rc == 0)
		rc = enter(b, file ? file : "", err);
	return rc == 0 ? 0 : blame(b, file, err);
}

int dlock_backend_register(const struct dlock_backend *backend)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, dlki_registry_add(backend, NULL, &s.err));
}

/* ---- Reports ------------------------------------------------------------- */

void dlock_each_store(void (*each)(const struct dlock_store *store, void *arg),
		      void *arg)
{
	struct dlock_store store = { .size = sizeof(store) };

	for (size_t i = 0; i < N_KNOWN; i++) {
		const struct dlock_backend *b = known[i].backend;

		store.scheme = known[i].scheme;
		store.summary = b ? b->summary : known[i].summary;
		store.missing = b ? NULL : known[i].missing;
		store.caps = b ? b->caps : 0;
		each(&store, arg);
	}
	for (struct registered *r = atomic_load(&registered); r; r = r->next) {
		store.summary = r->backend->summary;
		store.missing = NULL;
		store.caps = r->backend->caps;
		for (const char *const *s = r->backend->schemes; *s; s++) {
			store.scheme = *s;
			each(&store, arg);
		}
	}
}

static void each_of(const struct dlk_param *table,
		    void (*each)(const struct dlock_store_param *p, void *arg),
		    void *arg)
{
	for (const struct dlk_param *p = table; p && p->name; p++) {
		char range[160];
		struct dlock_store_param out = {
			.size = sizeof(out),
			.name = p->name,
			.type = dlki_param_type(p),
			.range = range,
			.def = p->def ? p->def : "",
			.text = p->text,
		};

		dlki_param_range(p, range, sizeof(range));
		each(&out, arg);
	}
}

int dlock_each_param(const char *scheme,
		     void (*each)(const struct dlock_store_param *p, void *arg),
		     void *arg)
{
	struct dlki_scope s = dlki_enter();
	const struct dlock_backend *backend = NULL;
	int rc = 0;

	if (!scheme || !each)
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "scheme or each is NULL");
	else if (!find_known(scheme))
		rc = dlki_registry_find(&backend, scheme, &s.err);
	else
		backend = find_known(scheme)->backend;
	if (rc == 0) {
		each_of(dlki_common_params, each, arg);
		each_of(backend ? backend->params : NULL, each, arg);
	}
	return dlki_leave_with(&s, rc);
}
