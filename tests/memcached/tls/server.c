/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/memcached/tls/server.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "lab/base/net.h"
#include "tests/tls/certs.h"

enum { PORTS = 5 }; /* tried, as another process may have one of them */

static struct lab_server *start_at(int tls_port, bool asks, const char *users)
{
	static char files[13000], at[40]; /* outlive the server */
	static const char *args[] = { "-Z", "-o", files, "-l",
				      at,   NULL, NULL,  NULL };
	static const struct lab_memcached_options o = { .without_tls = true,
							.args = args };

	snprintf(files, sizeof(files),
		 "ssl_chain_cert=%s,ssl_key=%s,ssl_ca_cert=%s,"
		 "ssl_verify_mode=%d",
		 certs_path("server.pem"), certs_path("server.key"),
		 certs_path("ca.pem"), asks ? 2 : 0);
	snprintf(at, sizeof(at), LAB_LOOPBACK ":%d", tls_port);
	args[5] = users ? "-Y" : NULL;
	args[6] = users;
	return lab_memcached_start(&o);
}

struct lab_server *tls_server_start(bool asks, const char *users, int *tls_port)
{
	struct lab_server *s = NULL;
	int fd;

	for (int i = 0; !s && i < PORTS; i++) {
		*tls_port = lab_reserve_port(&fd);
		if (*tls_port < 0)
			return NULL;
		close(fd);
		s = start_at(*tls_port, asks, users);
		if (!s && !strcasestr(lab_errmsg(), "in use"))
			break;
	}
	return s;
}
