/* SPDX-License-Identifier: Apache-2.0 */
/* The URI says a `tick=` below the servers' tickTime. */
#include "unit/names.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "zk/three.h"

TestSuite(zk_tick, .timeout = 180);

enum { TICK_MS = 500, TTL_MS = 10000 };

static void counts_by_the_servers(const char *config)
{
	struct lab_zk_options o = { .tick_ms = TICK_MS,
				    .min_session_ms = 2 * TICK_MS,
				    .config = config };
	int port = ensemble(&o)->node[0]->port;
	uint64_t renewed;
	dlock_client *c;
	dlock_hold *h;

	refused(port, "?ttl=1500ms&tick=100ms", DLOCK_EINVAL,
		"a tick of 500 ms");
	c = client(port, "?ttl=10s&tick=100ms&ask=2s");
	h = take(mutex(c, "lock"), PATIENCE);
	for (int i = 0; i < 2; i++) {
		renewed = stats(c).renewed;
		EVENTUALLY(stats(c).renewed > renewed);
		CHECK_INT(dlock_remaining_ms(h), <=,
			  TTL_MS / 20 * 19 - TICK_MS);
	}
	CHECK_OK(dlock_release(h));
}

CASE(zk_tick, is_the_servers_if_they_say_so)
{
	counts_by_the_servers(NULL);
}

/* By default a server answers no word but srvr. */
CASE(zk_tick, is_told_by_the_shortest_session)
{
	counts_by_the_servers("4lw.commands.whitelist=srvr,ruok\n");
}

/* The session has looked the name up. */
CASE(zk_tick, is_asked_at_the_address_of_the_connection)
{
	int port = ensemble(NULL)->node[0]->port, asked = names_asked();
	char uri[100];

	snprintf(uri, sizeof(uri), "zk://pair.test:%d/?ttl=30s&tick=100ms",
		 port);
	client_of_case(uri, NULL);
	CHECK_INT(names_asked() - asked, ==, 1);
}
