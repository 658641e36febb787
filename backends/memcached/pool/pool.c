/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool by libmemcached, which parses and places, and makes no connection.
 * memcached_generate_hash() changes no state, so threads need no lock.
 */
#include "backends/memcached/pool/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/memcached/pool/library.h"
#include "backends/memcached/pool/options.h"

static const struct memc_library *const lib = &dlki_libmemcached;

struct memc_pool {
	memcached_st *placing;
	char method[320];
	uint32_t weights[MEMC_MEMBERS];
};

static int fail_by(const memcached_st *placing, const char *what,
		   struct dlk_error *err)
{
	const char *why = lib->memcached_last_error_message(placing);

	return dlk_fail(err, DLOCK_EINVAL,
			"memcached: %s: libmemcached: %.150s", what,
			why ? why : "refused");
}

/* ---- From hosts and parameters ------------------------------------------- */

/* Set the distribution, before the servers, in an application's order.  A
 * weight makes a consistent distribution a weighted one. */
static memcached_return_t set_distribution(memcached_st *placing, int64_t d)
{
	switch (d) {
	case MEMC_CONSISTENT:
		return lib->memcached_behavior_set(
			placing, MEMCACHED_BEHAVIOR_DISTRIBUTION,
			MEMCACHED_DISTRIBUTION_CONSISTENT);
	case MEMC_KETAMA:
		return lib->memcached_behavior_set(
			placing, MEMCACHED_BEHAVIOR_KETAMA, 1);
	case MEMC_KETAMA_WEIGHTED:
		return lib->memcached_behavior_set(
			placing, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
	case MEMC_KETAMA_SPY:
		return lib->memcached_behavior_set(
			placing, MEMCACHED_BEHAVIOR_DISTRIBUTION,
			MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY);
	default:
		return MEMCACHED_SUCCESS; /* modula, as preset */
	}
}

static int add_servers(memcached_st *placing, const struct dlk_uri *uri,
		       struct dlk_error *err)
{
	const char *text = dlk_param_text(uri, "weights");
	uint32_t weights[MEMC_MEMBERS] = { 0 };
	int rc = 0;

	if (text)
		rc = dlki_memc_weights_parse(text, weights, uri->n_hosts, err);
	for (size_t i = 0; i < uri->n_hosts && rc == 0; i++) {
		const struct dlk_host *host = &uri->hosts[i];
		in_port_t port = host->port;

		if (port == 0)
			port = MEMCACHED_DEFAULT_PORT;
		if (lib->memcached_server_add_with_weight(placing, host->name,
							  port, weights[i]) !=
		    MEMCACHED_SUCCESS)
			rc = fail_by(placing, host->name, err);
	}
	return rc;
}

static int make_of_hosts(memcached_st *placing, const struct dlk_uri *uri,
			 struct dlk_error *err)
{
	int64_t hash = dlk_param_int(uri, "hash");

	if (set_distribution(placing, dlk_param_int(uri, "distribution")) !=
	    MEMCACHED_SUCCESS)
		return fail_by(placing, "distribution", err);
	if (dlk_param_given(uri, "hash") &&
	    lib->memcached_behavior_set(placing, MEMCACHED_BEHAVIOR_HASH,
					(uint64_t)hash) != MEMCACHED_SUCCESS)
		return dlk_fail(
			err, DLOCK_EINVAL,
			"memcached: this libmemcached was built "
			"without the hash '%s'",
			lib->libmemcached_string_hash((memcached_hash_t)hash));
	return add_servers(placing, uri, err);
}

/* ---- From an options string ---------------------------------------------- */

/* Make the pool of an options string.  memcached() tells no reason, and reads
 * the environment if the text is empty; so a check, which tells, comes
 * first. */
static memcached_st *make_of_options(const char *options, struct dlk_error *err)
{
	size_t n = strlen(options);
	memcached_st *placing;
	char why[150] = "";

	if (dlki_memc_options_check(options, err) != 0)
		return NULL;
	if (lib->libmemcached_check_configuration(
		    options, n, why, sizeof(why)) != MEMCACHED_SUCCESS) {
		dlk_fail(err, DLOCK_EINVAL, "memcached: pool: libmemcached: %s",
			 why);
		return NULL;
	}
	placing = lib->memcached(options, n);
	if (!placing)
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	return placing;
}

static memcached_st *make(const struct dlk_uri *uri, struct dlk_error *err)
{
	const char *options = dlk_param_text(uri, "pool");
	memcached_st *placing;

	if (options)
		return make_of_options(options, err);
	placing = lib->memcached_create(NULL);
	if (!placing) {
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
		return NULL;
	}
	if (make_of_hosts(placing, uri, err) == 0)
		return placing;
	lib->memcached_free(placing);
	return NULL;
}

/* ---- The pool ----------------------------------------------------------- */

static int same_server(struct memc_member a, struct memc_member b)
{
	return a.port == b.port && strcasecmp(a.name, b.name) == 0;
}

static int check_members(const struct memc_pool *pool, struct dlk_error *err)
{
	size_t n = dlki_memc_pool_size(pool);

	if (n == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: pool: no server; write "
				"--SERVER=host:port");
	if (n > MEMC_MEMBERS)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: %zu servers; a fleet has at most "
				"%d",
				n, MEMC_MEMBERS);
	for (size_t i = 1; i < n; i++) {
		struct memc_member one = dlki_memc_pool_member(pool, i);

		for (size_t j = 0; j < i; j++) {
			if (same_server(one, dlki_memc_pool_member(pool, j)))
				return dlk_fail(err, DLOCK_EINVAL,
						"memcached: servers %zu and "
						"%zu are the same; a weight "
						"gives a server more names",
						j + 1, i + 1);
		}
	}
	return 0;
}

static int is_weighted(memcached_st *placing)
{
	return lib->memcached_behavior_get(
		       placing, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED) != 0;
}

/* Set the weights, which libmemcached does not tell. */
static void weigh(struct memc_pool *pool, const struct dlk_uri *uri)
{
	const char *options = dlk_param_text(uri, "pool");
	const char *text = dlk_param_text(uri, "weights");
	size_t n = dlki_memc_pool_size(pool);

	for (size_t i = 0; i < n; i++)
		pool->weights[i] = 1;
	if (!is_weighted(pool->placing))
		return;
	if (!options && text)
		(void)dlki_memc_weights_parse(text, pool->weights, n, NULL);
	for (size_t i = 0; i < n && options; i++) {
		struct memc_member m = dlki_memc_pool_member(pool, i);

		pool->weights[i] = dlki_memc_options_weight(options, m.name,
							    m.port);
	}
}

/* Return the distribution's name in the URI. */
static const char *name_distribution(memcached_st *placing)
{
	memcached_server_distribution_t d =
		lib->memcached_behavior_get_distribution(placing);

	if (d == MEMCACHED_DISTRIBUTION_MODULA)
		return "modula";
	if (d == MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY)
		return is_weighted(placing) ? "ketama_spy_weighted" :
					      "ketama_spy";
	return is_weighted(placing) ? "ketama_weighted" : "ketama";
}

/* Lower a name of libmemcached's, in capitals there. */
static void lower(char *text)
{
	for (; *text; text++) {
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text - 'A' + 'a');
	}
}

static void describe(struct memc_pool *pool)
{
	const char *space = lib->memcached_callback_get(
		pool->placing, MEMCACHED_CALLBACK_PREFIX_KEY, NULL);
	const char *d = name_distribution(pool->placing);
	char hash[40];

	if (!lib->memcached_behavior_get(
		    pool->placing, MEMCACHED_BEHAVIOR_HASH_WITH_PREFIX_KEY))
		space = NULL;
	snprintf(hash, sizeof(hash), "%s",
		 lib->libmemcached_string_hash(
			 lib->memcached_behavior_get_key_hash(pool->placing)));
	lower(hash);
	snprintf(pool->method, sizeof(pool->method), "%s %s %s", d, hash,
		 space && *space ? space : "-");
}

struct memc_pool *dlki_memc_pool_new(const struct dlk_uri *uri,
				     struct dlk_error *err)
{
	struct memc_pool *pool;

	if (dlki_memc_pool_check(uri, err) != 0 ||
	    dlki_libmemcached_load(err) != 0)
		return NULL;
	pool = calloc(1, sizeof(*pool));
	if (!pool) {
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
		return NULL;
	}
	pool->placing = make(uri, err);
	if (pool->placing && check_members(pool, err) == 0) {
		weigh(pool, uri);
		describe(pool);
		return pool;
	}
	dlki_memc_pool_free(pool);
	return NULL;
}

void dlki_memc_pool_free(struct memc_pool *pool)
{
	if (!pool)
		return;
	if (pool->placing)
		lib->memcached_free(pool->placing);
	free(pool);
}

size_t dlki_memc_pool_size(const struct memc_pool *pool)
{
	return lib->memcached_server_count(pool->placing);
}

struct memc_member dlki_memc_pool_member(const struct memc_pool *pool, size_t i)
{
	const memcached_instance_st *server =
		lib->memcached_server_instance_by_position(pool->placing,
							   (uint32_t)i);
	struct memc_member m = { lib->memcached_server_name(server),
				 (uint16_t)lib->memcached_server_port(server),
				 pool->weights[i] };

	if (m.name[0] == '/')
		m.port = 0;
	return m;
}

size_t dlki_memc_pool_place(const struct memc_pool *pool, const char *name)
{
	return lib->memcached_generate_hash(pool->placing, name, strlen(name));
}

const char *dlki_memc_pool_method(const struct memc_pool *pool)
{
	return pool->method;
}
