/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform-memcacheds PROGRAM [ARG...] - as conform-on, for memcached over TLS
 * with a login.
 *
 * The certificates are made for this run, and the URI names their authority.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab/base/fail.h"
#include "support/program.h"
#include "tests/memcached/tls/server.h"
#include "tests/tls/certs.h"

int main(int argc, char *argv[])
{
	struct lab_server *s;
	char uri[8192];
	int port, rc;

	if (argc < 2) {
		fprintf(stderr, "conform-memcacheds: which program?\n");
		return 2;
	}
	certs_begin();
	s = tls_server_start(false, certs_file("users", "me:secret\n", 0600),
			     &port);
	if (!s) {
		fprintf(stderr, "conform-memcacheds: %s\n", lab_errmsg());
		certs_end();
		return 2;
	}
	snprintf(uri, sizeof(uri),
		 "memcacheds://me:secret@127.0.0.1:%d/?ask=1s&tls_ca=%s", port,
		 certs_path("ca.pem"));
	setenv("DLOCK_TEST_URIS", uri, 1);
	rc = run_program(argv + 1);
	lab_server_free(s);
	certs_end();
	return rc;
}
