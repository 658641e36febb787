/* SPDX-License-Identifier: Apache-2.0 */
/* Servers by name, and a name service that hangs or fails: unit/names.h. */
#include "unit/names.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "zk/support.h"

TestSuite(zk_names, .timeout = 120);

/* The order of the servers is random. */
CASE(zk_names, an_unknown_name_gives_way_to_the_next_server)
{
	int port = shared_server()->port;

	for (int i = 0; i < 6; i++)
		client_beside(port, ",absent.test:2181", "?connect=8s&ttl=60s");
}

CASE(zk_names, a_name_that_hangs_gives_way_to_the_next_server)
{
	int port = shared_server()->port;

	for (int i = 0; i < 6; i++)
		client_beside(port, ",slow.test:2181", "?connect=8s&ttl=60s");
	names_go_on();
}

/* Open a client, and return how long that took. */
static int64_t opening_ms(int port, const char *other)
{
	int64_t began = now_ms();

	end_now(client_beside(port, other, "?connect=60s&ttl=6s"));
	return now_ms() - began;
}

/* A server has a sixth of the ttl at most, however long `connect` is.  The
 * order of the servers is random. */
CASE(zk_names, a_server_without_an_address_takes_a_share_of_connect)
{
	enum { CONNECT_MS = 60000, SHARE_MS = 1000 };
	int port = shared_server()->port;
	int64_t took = 0;

	for (int i = 0; i < 6; i++)
		CHECK_INT(opening_ms(port, ",absent.test:2181"), <,
			  CONNECT_MS / 4);
	for (int i = 0; i < 20 && took < SHARE_MS / 2; i++)
		took = opening_ms(port, ",slow.test:2181");
	CHECK_INT(took, >=, SHARE_MS / 2);
	CHECK_INT(took, <, CONNECT_MS / 4);
	names_go_on();
}

/* The name service answers the first time only. */
CASE(zk_names, the_last_addresses_are_good_where_the_service_is_away)
{
	struct lab_proxy *p = proxy(shared_server());
	char uri[128];
	dlock_client *c;

	snprintf(uri, sizeof(uri), "zk://flaky.test:%d/?ttl=60s&ask=2s",
		 lab_proxy_port(p));
	c = client_of_case(uri, NULL);
	lab_proxy_reset(p);
	CHECK_OK(dlock_release(take(mutex(c, "lock"), PATIENCE)));
}
