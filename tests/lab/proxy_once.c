/* SPDX-License-Identifier: Apache-2.0 */
/* Swallowed replies and held requests. */
#include "lab/base/clock.h"
#include "pair.h"

#include <sys/socket.h>
#include <unistd.h>

TestSuite(proxy_once, .init = pair_set_up, .fini = pair_tear_down,
	  .timeout = 120);

Test(proxy_once, swallows_the_reply_to_a_certain_request)
{
	lab_proxy_swallow(proxy, "DEL", LAB_THEN_NOTHING);
	put(client, "SET x");
	expect_get(server, "SET x");
	put(server, "set");
	expect_get(client, "set");
	put(client, "DEL x");
	expect_get(server, "DEL x");
	put(server, "deleted");
	saw(LAB_SWALLOWED, 1);
	put(server, "more");
	expect_get(client, "more");
	put(client, "DEL y");
	expect_get(server, "DEL y");
	put(server, "again");
	expect_get(client, "again");
}

Test(proxy_once, swallows_and_strands)
{
	lab_proxy_swallow(proxy, NULL, LAB_THEN_STRAND);
	put(server, "gone");
	saw(LAB_SWALLOWED, 1);
	put(server, "kept");
	put(client, "q");
	cr_expect_eq(lab_proxy_wait(proxy, LAB_DOWN_CHUNKS, 2, 200), -1);
	lab_proxy_heal(proxy);
	expect_get(client, "kept");
	expect_get(server, "q");
}

Test(proxy_once, swallows_and_closes_or_resets)
{
	lab_proxy_swallow(proxy, NULL, LAB_THEN_CLOSE);
	put(server, "gone");
	expect_get(client, "FIN");
	expect_get(server, "FIN");
	close(client);
	close(server);
	open_pair();
	lab_proxy_swallow(proxy, NULL, LAB_THEN_RESET);
	put(server, "gone");
	expect_get(client, "RST");
	expect_get(server, "RST");
	cr_expect_eq(lab_proxy_stat(proxy, LAB_SWALLOWED), 2);
}

Test(proxy_once, holds_a_request_and_what_follows)
{
	lab_proxy_hold(proxy, "DEL");
	put(client, "SET;");
	expect_get(server, "SET;");
	put(client, "DEL;");
	saw(LAB_HELD, 1);
	put(client, "GET;");
	expect_silence(server);
	saw(LAB_UP_CHUNKS, 3);
	cr_expect_eq(lab_proxy_deliver(proxy), 1);
	saw(LAB_UP_BYTES, 12);
	expect_get(server, "DEL;GET;");
	cr_expect_eq(lab_proxy_deliver(proxy), 0);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_DELIVERED), 1);
}

static void deliver_after(bool reset)
{
	struct linger none = { .l_onoff = 1 };

	lab_proxy_hold(proxy, NULL);
	put(client, "late");
	saw(LAB_HELD, 1);
	if (reset)
		setsockopt(client, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(client);
	client = -1;
	expect_silence(server);
	cr_expect_eq(lab_proxy_deliver(proxy), 1);
	expect_get(server, "late");
	expect_get(server, "FIN");
}

Test(proxy_once, delivers_what_it_held_after_the_client_closed)
{
	deliver_after(false);
}

Test(proxy_once, delivers_what_it_held_after_the_client_was_reset)
{
	deliver_after(true);
}
