/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform-on STORE PROGRAM [ARG...] - run the conformance suite against a
 * private server: memcached-text, memcached-meta, zk or zk-async.
 *
 * PROGRAM is `conform`, `conform-plain` or `torture`; it is given the server's
 * URI in DLOCK_TEST_URIS.  Its exit code is ours.
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

static const struct {
	const char *name;
	struct lab_server *(*start)(void);
	const char *uri;
} stores[] = {
	{ "memcached-text", memcached,
	  "memcached://127.0.0.1:%d/?ask=1s&protocol=text" },
	{ "memcached-meta", memcached,
	  "memcached://127.0.0.1:%d/?ask=1s&protocol=meta" },
	{ "zk", zookeeper, "zk://127.0.0.1:%d/?ask=2s" },
	{ "zk-async", zookeeper, "zk://127.0.0.1:%d/?ask=2s&release=async" },
};

static int run(size_t i, char *argv[])
{
	struct lab_server *s = stores[i].start();
	char uri[128];
	int rc;

	if (!s) {
		fprintf(stderr, "conform-on: %s\n", lab_errmsg());
		return 2;
	}
	snprintf(uri, sizeof(uri), stores[i].uri, s->port);
	setenv("DLOCK_TEST_URIS", uri, 1);
	rc = run_program(argv);
	lab_server_free(s);
	return rc;
}

int main(int argc, char *argv[])
{
	for (size_t i = 0; argc > 2 && i < sizeof(stores) / sizeof(stores[0]);
	     i++) {
		if (strcmp(stores[i].name, argv[1]) == 0)
			return run(i, argv + 2);
	}
	fprintf(stderr, "usage: conform-on memcached-text|memcached-meta|zk|"
			"zk-async PROGRAM [ARG...]\n");
	return 2;
}
