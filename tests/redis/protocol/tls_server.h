/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private Redis server with a port for TLS, beside the port without.
 */
#ifndef TESTS_REDIS_PROTOCOL_TLS_SERVER_H
#define TESTS_REDIS_PROTOCOL_TLS_SERVER_H

#include "lab/servers/redis.h"

/*
 * Start a server with the certificate NAME of tests/tls/certs.h, which accepts
 * certificates by "ca".  `more` has lines of redis.conf, as for
 * tls-auth-clients.  NULL: see lab_errmsg().  One server at a time.
 */
struct lab_server *tls_server_start(const char *cert, const char *more,
				    int *tls_port);

#endif
