/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform-rediss PROGRAM [ARG...] - as conform-redis, over TLS.
 *
 * The certificates are made for this run, and the URI names their authority.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab/base/fail.h"
#include "support/program.h"
#include "tests/redis/protocol/tls_server.h"
#include "tests/tls/certs.h"

int main(int argc, char *argv[])
{
	struct lab_server *s;
	char uri[8192];
	int port, rc;

	if (argc < 2) {
		fprintf(stderr, "conform-rediss: which program?\n");
		return 2;
	}
	certs_begin();
	s = tls_server_start("server", "tls-auth-clients no\n", &port);
	if (!s) {
		fprintf(stderr, "conform-rediss: %s\n", lab_errmsg());
		certs_end();
		return 2;
	}
	snprintf(uri, sizeof(uri), "rediss://127.0.0.1:%d/?ask=1s&tls_ca=%s",
		 port, certs_path("ca.pem"));
	setenv("DLOCK_TEST_URIS", uri, 1);
	rc = run_program(argv + 1);
	lab_server_free(s);
	certs_end();
	return rc;
}
