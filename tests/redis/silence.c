/* SPDX-License-Identifier: Apache-2.0 */
/* Opening takes no longer than it may, however far the server lets us come:
 * user, database and name are sent before the first answer is needed. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(redis_silence, .timeout = 120);

enum { CONNECT_MS = 300 };

static struct lab_server *server;
static struct lab_proxy *proxy;

static int64_t time_of_open(void)
{
	int64_t begin = now_ms();
	dlock_client *c = NULL;
	char uri[160];

	snprintf(uri, sizeof(uri),
		 "redis://:sesame@127.0.0.1:%d/3?connect=300ms&client_name=me",
		 lab_proxy_port(proxy));
	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "127.0.0.1");
	return now_ms() - begin;
}

static void drip(void)
{
	lab_proxy_drip(proxy, LAB_DOWN, 60);
}

static void swallow(void)
{
	lab_proxy_hole(proxy, LAB_DOWN, true);
}

static void deaf(void)
{
	lab_proxy_hole(proxy, LAB_UP, true);
}

/* After so many bytes, which are a part of the first answers. */
static void cut(void)
{
	lab_proxy_drip(proxy, LAB_DOWN, 60);
	lab_proxy_cut(proxy, LAB_DOWN, 3);
}

Test(redis_silence, does_not_keep_us_from_giving_up_to_open)
{
	static void (*const faults[])(void) = { drip, swallow, deaf, cut };
	struct lab_redis_options o = { .password = "sesame" };
	dlock_client *c = NULL;
	char uri[160];

	server = server_start(&o);
	proxy = proxy_start(server);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		faults[i]();
		CHECK_WITHIN(time_of_open(), CONNECT_MS + 50 + slack_ms());
		lab_proxy_heal(proxy);
	}
	snprintf(uri, sizeof(uri), "redis://:sesame@127.0.0.1:%d/3",
		 lab_proxy_port(proxy));
	CHECK_OK(dlock_open(&c, uri, NULL));
	warm_up(c);
	dlock_close(c);
	lab_proxy_free(proxy);
	server_end(server);
}
