/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private servers with a port for TLS, beside the port without.
 */
#ifndef TESTS_TLS_STORES_SERVERS_H
#define TESTS_TLS_STORES_SERVERS_H

#include "lab/servers/memcached.h"
#include "lab/servers/redis.h"

/*
 * Start a server, which accepts certificates by "ca" of tests/tls/certs.h.
 * NULL: see lab_errmsg().  One server at a time.
 *
 * Redis: `cert` names the server's certificate, and `more` has lines of
 * redis.conf, as for tls-auth-clients.  memcached has the certificate "server";
 * `users`: a file for -Y.
 */
struct lab_server *tls_redis_start(const char *cert, const char *more,
				   int *tls_port);
struct lab_server *tls_memcached_start(const char *users, int *tls_port);

#endif
