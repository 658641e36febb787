/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/base/net.h"
#include "tests/tls/certs.h"

static pid_t maker;

/* Not at the end of a worker. */
static void remove_certs(void)
{
	if (getpid() == maker)
		certs_end();
}

int chaos_tls_new(struct chaos_tls *t)
{
	int fd;

	if (!maker) {
		certs_begin();
		maker = getpid();
		atexit(remove_certs);
	}
	t->port = lab_reserve_port(&fd); /* until the end, as servers restart */
	if (t->port < 0)
		return -1;
	snprintf(t->config, sizeof(t->config),
		 "tls-port %d\n"
		 "tls-cert-file %s\n"
		 "tls-key-file %s\n"
		 "tls-ca-cert-file %s\n"
		 "tls-auth-clients no\n",
		 t->port, certs_path("server.pem"), certs_path("server.key"),
		 certs_path("ca.pem"));
	return 0;
}

const char *chaos_tls_ca(void)
{
	return certs_path("ca.pem");
}
