/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform-tls rediss|memcacheds PROGRAM [ARG...] - as conform-on, for a store
 * over TLS; memcached has a login as well.
 *
 * The certificates are made for this run, and the URI names their authority.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"
#include "support/program.h"
#include "tests/tls/certs.h"
#include "tests/tls/stores/servers.h"

static struct lab_server *start(int is_redis, int *port)
{
	if (is_redis)
		return tls_redis_start("server", "tls-auth-clients no\n", port);
	return tls_memcached_start(certs_file("users", "me:secret\n", 0600),
				   port);
}

int main(int argc, char *argv[])
{
	int is_redis = argc > 1 && strcmp(argv[1], "rediss") == 0;
	struct lab_server *s;
	char uri[8192];
	int port, rc = 2;

	if (argc < 3) {
		fprintf(stderr, "conform-tls: which store and program?\n");
		return 2;
	}
	certs_begin();
	s = start(is_redis, &port);
	if (s) {
		snprintf(uri, sizeof(uri),
			 "%s://%s127.0.0.1:%d/?ask=1s&tls_ca=%s", argv[1],
			 is_redis ? "" : "me:secret@", port,
			 certs_path("ca.pem"));
		setenv("DLOCK_TEST_URIS", uri, 1);
		rc = run_program(argv + 2);
	} else {
		fprintf(stderr, "conform-tls: %s\n", lab_errmsg());
	}
	lab_server_free(s);
	certs_end();
	return rc;
}
