/* SPDX-License-Identifier: Apache-2.0 */
/* A wake that is lost. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(redis_wakes, .timeout = 120);

CASE(redis_wakes, a_lost_wake_costs_no_more_than_an_attempt)
{
	struct lab_server *server = server_start(NULL);
	struct lab_proxy *proxy = proxy_of_case(server);
	dlock_client *near = client_of(server->port, "ttl=6s", NULL);
	dlock_client *far = client_of(lab_proxy_port(proxy), "ttl=6s", NULL);
	struct taker t = { 0 };
	dlock_hold *h;
	int64_t begin;

	warm_up(near);
	h = take(mutex(near, "x"), 0);
	taker_queue(&t, far, mutex(far, "x"), FOREVER);
	lab_proxy_swallow(proxy, NULL, LAB_THEN_NOTHING);
	begin = now_ms();
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(lab_proxy_stat(proxy, LAB_SWALLOWED), ==, 1);
	CHECK_INT(t.done_ms - begin, <=, 2000 + slack_ms());
	let_go(&t);
	CHECK_OK(t.release_rc);
}
