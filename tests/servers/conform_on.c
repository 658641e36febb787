/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform-on STORE PROGRAM [ARG...] - run the conformance suite against a
 * private server: memcached-text, memcached-meta, zk or zk-async; or against
 * three, memcached-fleet.
 *
 * PROGRAM is `conform` or `conform-plain`, which finds the store's URI in
 * DLOCK_TEST_URIS.  The exit code is PROGRAM's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"
#include "lab/servers/memcached.h"
#include "lab/servers/zookeeper.h"
#include "support/program.h"

static struct lab_server *memcached(void)
{
	return lab_memcached_start(NULL);
}

static struct lab_server *zookeeper(void)
{
	return lab_zk_start(NULL);
}

enum { MOST = 3 };

static const struct {
	const char *name;
	struct lab_server *(*start)(void);
	size_t n;
	const char *scheme, *query;
} stores[] = {
	{ "memcached-text", memcached, 1, "memcached", "ask=1s&protocol=text" },
	{ "memcached-meta", memcached, 1, "memcached", "ask=1s&protocol=meta" },
	{ "memcached-fleet", memcached, MOST, "memcached",
	  "ask=1s&distribution=ketama_weighted" },
	{ "zk", zookeeper, 1, "zk", "ask=2s" },
	{ "zk-async", zookeeper, 1, "zk", "ask=2s&release=async" },
};

#define STORES (sizeof(stores) / sizeof(stores[0]))

static void set_uri(size_t i, struct lab_server *const servers[])
{
	char uri[256];
	int n = snprintf(uri, sizeof(uri), "%s://", stores[i].scheme);

	for (size_t k = 0; k < stores[i].n; k++)
		n += snprintf(uri + n, sizeof(uri) - (size_t)n,
			      "%s127.0.0.1:%d", k > 0 ? "," : "",
			      servers[k]->port);
	snprintf(uri + n, sizeof(uri) - (size_t)n, "/?%s", stores[i].query);
	setenv("DLOCK_TEST_URIS", uri, 1);
}

static int run(size_t i, char *argv[])
{
	struct lab_server *servers[MOST] = { NULL };
	int rc = 0;

	for (size_t k = 0; rc == 0 && k < stores[i].n; k++) {
		servers[k] = stores[i].start();
		if (servers[k])
			continue;
		fprintf(stderr, "conform-on: %s\n", lab_errmsg());
		rc = 2;
	}
	if (rc == 0) {
		set_uri(i, servers);
		rc = run_program(argv);
	}
	for (size_t k = 0; k < MOST; k++)
		lab_server_free(servers[k]);
	return rc;
}

int main(int argc, char *argv[])
{
	for (size_t i = 0; argc > 2 && i < STORES; i++) {
		if (strcmp(stores[i].name, argv[1]) == 0)
			return run(i, argv + 2);
	}
	fprintf(stderr, "usage: conform-on memcached-text|memcached-meta|"
			"memcached-fleet|zk|zk-async PROGRAM [ARG...]\n");
	return 2;
}
