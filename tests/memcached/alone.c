/* SPDX-License-Identifier: Apache-2.0 */
/* Clients without threads. */
#include "support.h"

#include <stdio.h>

#include "support/alone.h"

static const char *uri_with(const struct scene *s, const char *query)
{
	static char uri[200];

	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?protocol=%s&%s",
		 lab_proxy_port(s->proxy), s->protocol, query);
	return uri;
}

EITHER_WAY(memcached_alone, a_silent_server_holds_up_no_process)
{
	alone_is_not_held_up(uri_with(&s, "ask=10s&ttl=60s&close=10s"),
			     s.proxy);
}

EITHER_WAY(memcached_alone, a_renewal_holds_up_no_process)
{
	alone_renews_without_a_wait(uri_with(&s, "ttl=6s"), s.proxy);
}

EITHER_WAY(memcached_alone, a_clean_up_holds_up_no_process)
{
	alone_cleans_up_without_a_wait(
		uri_with(&s, "ask=100ms&ttl=90s&close=30s&connect=30s"),
		s.proxy);
}
