/* SPDX-License-Identifier: Apache-2.0 */
/* The proxies between the workers and the servers of the store. */
#include <stdio.h>

#include "chaos/chaos.h"

static void make_uri(char uri[256], const char *scheme, const int port[], int n,
		     const char *query)
{
	size_t used = (size_t)snprintf(uri, 256, "%s://", scheme);

	for (int i = 0; i < n; i++)
		used += (size_t)snprintf(uri + used, 256 - used,
					 "%s" LAB_LOOPBACK ":%d", i ? "," : "",
					 port[i]);
	snprintf(uri + used, 256 - used, "/%s", query);
}

int chaos_start_proxies(struct chaos *c, const char *scheme,
			struct lab_server *const server[], int n,
			const char *query)
{
	int port[2][CHAOS_PROXIES];

	for (int i = 0; i < n; i++) {
		struct lab_proxy_options o = { .to = lab_server_address(
						       server[i]) };

		c->proxies[i] = lab_proxy_new(&o);
		if (!c->proxies[i])
			return -1;
		port[0][i] = lab_proxy_port(c->proxies[i]);
		port[1][i] = server[i]->port;
	}
	c->nproxies = n;
	c->proxy = c->proxies[0];
	for (int i = 0; i < 2; i++)
		make_uri(c->uri[i], scheme, port[i], n, query);
	return 0;
}
