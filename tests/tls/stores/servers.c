/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tls/stores/servers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "lab/base/net.h"
#include "tests/tls/certs.h"

enum { PORTS = 5 }; /* tried, as another process may have one of them */

typedef struct lab_server *start_fn(int tls_port, const char *what,
				    const char *more);

static struct lab_server *start(start_fn *start_at, const char *what,
				const char *more, int *tls_port)
{
	struct lab_server *s = NULL;
	int fd;

	for (int i = 0; !s && i < PORTS; i++) {
		*tls_port = lab_reserve_port(&fd);
		if (*tls_port < 0)
			return NULL;
		close(fd);
		s = start_at(*tls_port, what, more);
		if (!s && !strcasestr(lab_errmsg(), "in use"))
			break;
	}
	return s;
}

static struct lab_server *redis_at(int tls_port, const char *cert,
				   const char *more)
{
	static char config[20000]; /* outlives the server */
	char pem[80], key[80];
	const struct lab_redis_options o = { .config = config };

	snprintf(pem, sizeof(pem), "%s.pem", cert);
	snprintf(key, sizeof(key), "%s.key", cert);
	snprintf(config, sizeof(config),
		 "tls-port %d\n"
		 "tls-cert-file %s\n"
		 "tls-key-file %s\n"
		 "tls-ca-cert-file %s\n"
		 "%s",
		 tls_port, certs_path(pem), certs_path(key),
		 certs_path("ca.pem"), more);
	return lab_redis_start(&o);
}

static struct lab_server *memcached_at(int tls_port, const char *name,
				       const char *users)
{
	static char files[13000], at[40]; /* outlive the server */
	static const char *args[] = { "-Z", "-o", files, "-l",
				      at,   "-Y", NULL,  NULL };
	static const struct lab_memcached_options o = { .without_tls = true,
							.args = args };

	snprintf(files, sizeof(files),
		 "ssl_chain_cert=%s,ssl_key=%s,ssl_ca_cert=%s",
		 certs_path("server.pem"), certs_path("server.key"),
		 certs_path("ca.pem"));
	snprintf(at, sizeof(at), LAB_LOOPBACK ":%d", tls_port);
	(void)name;
	args[6] = users;
	return lab_memcached_start(&o);
}

struct lab_server *tls_redis_start(const char *cert, const char *more,
				   int *tls_port)
{
	return start(redis_at, cert, more, tls_port);
}

struct lab_server *tls_memcached_start(const char *users, int *tls_port)
{
	return start(memcached_at, "server", users, tls_port);
}
