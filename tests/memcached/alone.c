/* SPDX-License-Identifier: Apache-2.0 */
/* Clients without threads. */
#include "support.h"

#include <stdio.h>

#include "support/alone.h"

EITHER_WAY(memcached_alone, a_silent_server_holds_up_no_process)
{
	char uri[200];

	snprintf(uri, sizeof(uri),
		 "memcached://127.0.0.1:%d/?protocol=%s&ask=10s&ttl=60s"
		 "&close=10s",
		 lab_proxy_port(s.proxy), s.protocol);
	alone_is_not_held_up(uri, s.proxy);
}
