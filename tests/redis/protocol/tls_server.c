/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/redis/protocol/tls_server.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "tests/tls/certs.h"

enum { PORTS = 5 }; /* tried, as another process may have one of them */

static struct lab_server *start_at(int tls_port, const char *cert,
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

struct lab_server *tls_server_start(const char *cert, const char *more,
				    int *tls_port)
{
	struct lab_server *s = NULL;
	int fd;

	for (int i = 0; !s && i < PORTS; i++) {
		*tls_port = lab_reserve_port(&fd);
		if (*tls_port < 0)
			return NULL;
		s = start_at(*tls_port, cert, more);
		close(fd);
		if (!s && !strcasestr(lab_errmsg(), "in use"))
			break;
	}
	return s;
}
