/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private memcached with a port for TLS, beside the port without.
 */
#ifndef TESTS_MEMCACHED_TLS_SERVER_H
#define TESTS_MEMCACHED_TLS_SERVER_H

#include "lab/servers/memcached.h"

/*
 * Start a server with the certificate "server" of tests/tls/certs.h.  `asks`:
 * clients need a certificate by "ca".  `users`: a file for -Y, or NULL.  NULL:
 * see lab_errmsg().  One server at a time.
 */
struct lab_server *tls_server_start(bool asks, const char *users,
				    int *tls_port);

#endif
