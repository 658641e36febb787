/* SPDX-License-Identifier: Apache-2.0 */
/* Servers by name, and a name service that hangs or fails: unit/names.h. */
#include "unit/names.h"

#include <criterion/criterion.h>
#include <dlock/async.h>
#include <pthread.h>
#include <stdio.h>

#include "support/census.h"
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

/* ---- Without threads ----------------------------------------------------- */

static dlock_client *alone;

static void *looks_up(void *arg)
{
	while (names_asked() < 2) {
		int rc = dlock_process(alone, 0);

		/* The close may call back when the look-up has ended. */
		CHECK(rc >= 0 || (rc == DLOCK_EBUSY && names_asked() == 2));
	}
	return arg;
}

static void *closes(void *arg)
{
	dlock_close(alone);
	return arg;
}

/* The close waits for the thread of the program that looks the name up. */
CASE(zk_names, a_name_that_hangs_takes_no_thread_of_a_client_without_threads)
{
	struct lab_proxy *p = proxy(shared_server());
	dlock_options o = DLOCK_OPTIONS_INIT;
	pthread_t looker, closer;
	char uri[128];

	o.no_threads = 1;
	snprintf(uri, sizeof(uri), "zk://tired.test:%d/?ttl=60s&close=50ms",
		 lab_proxy_port(p));
	CHECK_OK(dlock_open(&alone, uri, &o));
	lab_proxy_reset(p);
	CHECK_INT(pthread_create(&looker, NULL, looks_up, NULL), ==, 0);
	EVENTUALLY(names_asked() == 2);
	CHECK_INT(pthread_create(&closer, NULL, closes, NULL), ==, 0);
	ALL_ALONG(500, census_threads("dlock-zk") == 0);
	names_go_on();
	pthread_join(looker, NULL);
	pthread_join(closer, NULL);
}
