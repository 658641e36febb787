/* SPDX-License-Identifier: Apache-2.0 */
/* A lock is where an application's own pool looks for the lock's name. */
#include <criterion/criterion.h>
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memcached/fleet/pools.h"

#define NAMES 10000

TestSuite(memcached_placing, .timeout = 120);

#define SERVERS "cache1.example,cache2.example:11212,10.0.0.3:11213,cache4"

/* ---- The application ----------------------------------------------------- */

/* Servers from a list, as in libmemcached's documentation. */
static memcached_st *application(const char *servers)
{
	memcached_st *app = memcached_create(NULL);
	memcached_server_st *list = memcached_servers_parse(servers);

	cr_assert_eq(memcached_server_push(app, list), MEMCACHED_SUCCESS);
	memcached_server_list_free(list);
	return app;
}

static void set(memcached_st *app, memcached_behavior_t behavior,
		uint64_t value)
{
	cr_assert_eq(memcached_behavior_set(app, behavior, value),
		     MEMCACHED_SUCCESS, "behavior %d", (int)behavior);
}

/* libmemcached places the key; the pool is freed, and so is the application. */
static void expect_same(struct memc_pool *pool, memcached_st *app,
			const char *what)
{
	size_t used[MEMC_MEMBERS] = { 0 }, n = dlki_memc_pool_size(pool);

	for (int i = 0; i < NAMES; i++) {
		const memcached_instance_st *server;
		memcached_return_t rc = MEMCACHED_SUCCESS; /* not always set */
		struct memc_member m;
		char name[40];
		size_t at;

		snprintf(name, sizeof(name), "jobs/%d:nightly-%x", i, i * 977);
		server = memcached_server_by_key(app, name, strlen(name), &rc);
		cr_assert(server && rc == MEMCACHED_SUCCESS);
		at = dlki_memc_pool_place(pool, name);
		cr_assert_lt(at, n);
		used[at]++;
		m = dlki_memc_pool_member(pool, at);
		cr_assert_str_eq(m.name, memcached_server_name(server),
				 "%s: %s", what, name);
		if (m.port != 0)
			cr_assert_eq(m.port, memcached_server_port(server),
				     "%s: %s", what, name);
	}
	/* With the 15 bits of crc a ketama uses a single server. */
	for (size_t i = 0; i < n && !strstr(what, "hash=crc"); i++)
		cr_assert_gt(used[i], 0, "%s: server %zu has no name", what, i);
	memcached_free(app);
	dlki_memc_pool_free(pool);
}

/* ---- Distributions and hashes -------------------------------------------- */

static const struct {
	const char *name;
	memcached_behavior_t behavior;
	uint64_t value;
} distributions[] = {
	{ "modula", MEMCACHED_BEHAVIOR_DISTRIBUTION,
	  MEMCACHED_DISTRIBUTION_MODULA },
	{ "consistent", MEMCACHED_BEHAVIOR_DISTRIBUTION,
	  MEMCACHED_DISTRIBUTION_CONSISTENT },
	{ "ketama", MEMCACHED_BEHAVIOR_KETAMA, 1 },
	{ "ketama_weighted", MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1 },
	{ "ketama_spy", MEMCACHED_BEHAVIOR_DISTRIBUTION,
	  MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY },
};

static const struct {
	const char *name;
	memcached_hash_t hash;
} hashes[] = {
	{ "default", MEMCACHED_HASH_DEFAULT },
	{ "md5", MEMCACHED_HASH_MD5 },
	{ "crc", MEMCACHED_HASH_CRC },
	{ "fnv1_64", MEMCACHED_HASH_FNV1_64 },
	{ "fnv1a_64", MEMCACHED_HASH_FNV1A_64 },
	{ "fnv1_32", MEMCACHED_HASH_FNV1_32 },
	{ "fnv1a_32", MEMCACHED_HASH_FNV1A_32 },
	{ "hsieh", MEMCACHED_HASH_HSIEH },
	{ "murmur", MEMCACHED_HASH_MURMUR },
	{ "jenkins", MEMCACHED_HASH_JENKINS },
	{ "murmur3", MEMCACHED_HASH_MURMUR3 },
};

/* As pylibmc: servers, the hash, the distribution. A weighted ketama sets a
 * hash, which a later hash replaces. Returns 0 if this build of libmemcached
 * lacks the hash. */
static int place_by(memcached_st *app, size_t d, size_t h)
{
	int weighted = distributions[d].behavior ==
		       MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED;

	if (weighted)
		set(app, distributions[d].behavior, distributions[d].value);
	if (memcached_behavior_set(app, MEMCACHED_BEHAVIOR_HASH,
				   hashes[h].hash) != MEMCACHED_SUCCESS)
		return 0;
	if (!weighted)
		set(app, distributions[d].behavior, distributions[d].value);
	return 1;
}

Test(memcached_placing, every_distribution_with_every_hash)
{
	char uri[300];

	for (size_t d = 0; d < 5; d++) {
		for (size_t h = 0; h < 11; h++) {
			memcached_st *app = application(SERVERS);

			snprintf(uri, sizeof(uri),
				 "memcached://" SERVERS
				 "/?distribution=%s&hash=%s",
				 distributions[d].name, hashes[h].name);
			if (place_by(app, d, h)) {
				expect_same(pool_of(uri), app, uri);
				continue;
			}
			pool_refused(uri, DLOCK_EINVAL, "built without");
			memcached_free(app);
		}
	}
}

Test(memcached_placing, without_a_hash_it_is_that_of_the_distribution)
{
	char uri[300];

	for (size_t d = 0; d < 5; d++) {
		memcached_st *app = application(SERVERS);

		snprintf(uri, sizeof(uri),
			 "memcached://" SERVERS "/?distribution=%s",
			 distributions[d].name);
		set(app, distributions[d].behavior, distributions[d].value);
		expect_same(pool_of(uri), app, uri);
	}
	expect_same(pool_of("memcached://" SERVERS), application(SERVERS),
		    "nothing but servers");
}

Test(memcached_placing, weights)
{
	memcached_st *app = application("a.example:11211 3,b.example:11212 1,"
					"c.example:11213 12");

	set(app, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
	expect_same(pool_of("memcached://a.example,b.example:11212,"
			    "c.example:11213/"
			    "?distribution=ketama_weighted&weights=3,1,12"),
		    app, "weights");
}

/* ---- Options strings ----------------------------------------------------- */

static const char *const options[] = {
	"--SERVER=cache1.example --SERVER=cache2.example:11212",
	"--SERVER=cache1.example --SERVER=10.0.0.2:11212 --HASH=MD5",
	"--SERVER=cache1 --SERVER=cache2 --DISTRIBUTION=consistent",
	"--DISTRIBUTION=consistent --SERVER=cache1/?5 --SERVER=cache2:1/?2",
	"--SERVER=cache1/?5 --SERVER=cache2:1/?2 --DISTRIBUTION=consistent",
	"--SERVER=cache1 --SERVER=cache2 --DISTRIBUTION=consistent,MD5",
	"--SERVER=zebra --SERVER=aardvark --SORT-HOSTS --HASH=CRC",
	"--SERVER=cache1 --SERVER=cache2 --NAMESPACE=\"shop:\"",
	"--SERVER=cache1 --SERVER=cache2 --NAMESPACE=\"shop:\" "
	"--HASH-WITH-NAMESPACE",
	"--SOCKET=\"/run/cache1.sock\" --SOCKET=\"/run/cache2.sock\"/?2",
	"--server=cache1 --server=cache2 --connect-timeout=100 --tcp-nodelay "
	"--binary-protocol --hash=murmur --distribution=CONSISTENT",
};

Test(memcached_placing, options_of_libmemcached)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		memcached_st *app = memcached(options[i], strlen(options[i]));

		cr_assert(app, "%s", options[i]);
		expect_same(pool_of(uri_of_options(options[i])), app,
			    options[i]);
	}
}

/* libmemcached would read options there if the text were empty. */
Test(memcached_placing, the_environment_places_nothing)
{
	setenv("LIBMEMCACHED", "--SERVER=elsewhere --SERVER=other", 1);
	expect_same(pool_of("memcached://" SERVERS), application(SERVERS),
		    "nothing but servers");
}

Test(memcached_placing, a_fleet_of_a_hundred)
{
	char servers[3000], uri[3100];
	size_t n = 0;

	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(servers + n, sizeof(servers) - n,
				      "%scache%02d.example:11211",
				      i > 0 ? "," : "", i);
	for (size_t d = 0; d < 5; d++) {
		memcached_st *app = application(servers);

		set(app, distributions[d].behavior, distributions[d].value);
		snprintf(uri, sizeof(uri), "memcached://%s/?distribution=%s",
			 servers, distributions[d].name);
		expect_same(pool_of(uri), app, uri);
	}
	snprintf(uri, sizeof(uri), "memcached://%s,more", servers);
	pool_refused(uri, DLOCK_EINVAL, "101 servers");
}
