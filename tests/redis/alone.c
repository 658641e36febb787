/* SPDX-License-Identifier: Apache-2.0 */
/* Clients without threads. */
#include "support.h"

#include <criterion/criterion.h>

#include "support/alone.h"

TestSuite(redis_alone, .timeout = 60);

CASE(redis_alone, a_silent_server_holds_up_no_process)
{
	struct lab_proxy *proxy = proxy_of_case(server_start(NULL));

	alone_is_not_held_up(uri_of(lab_proxy_port(proxy),
				    "ask=10s&ttl=60s&close=10s"),
			     proxy);
}

CASE(redis_alone, a_renewal_holds_up_no_process)
{
	struct lab_proxy *proxy = proxy_of_case(server_start(NULL));

	alone_renews_without_a_wait(uri_of(lab_proxy_port(proxy), "ttl=6s"),
				    proxy);
}

CASE(redis_alone, a_clean_up_holds_up_no_process)
{
	struct lab_proxy *proxy = proxy_of_case(server_start(NULL));

	alone_cleans_up_without_a_wait(
		uri_of(lab_proxy_port(proxy),
		       "ask=100ms&ttl=90s&close=30s&connect=30s"),
		proxy);
}
