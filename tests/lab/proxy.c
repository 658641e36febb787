/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "pair.h"

#include <sys/socket.h>
#include <unistd.h>

TestSuite(proxy, .init = pair_set_up, .fini = pair_tear_down, .timeout = 120);

Test(proxy, passes_the_ends_of_a_connection)
{
	shutdown(client, SHUT_WR);
	expect_get(server, "FIN");
	put(server, "still here");
	expect_get(client, "still here");
	close(server);
	expect_get(client, "FIN");
	server = -1;
	while (lab_proxy_stat(proxy, LAB_OPEN))
		lab_nap_ms(1);
}

Test(proxy, delays_one_direction)
{
	int64_t begin = lab_now();

	lab_proxy_delay(proxy, LAB_DOWN, 150);
	put(client, "a");
	expect_get(server, "a");
	put(server, "b");
	expect_get(client, "b");
	cr_expect_geq(lab_now() - begin, 150 * LAB_MS);
	lab_proxy_delay(proxy, LAB_DOWN, 3600000);
	put(server, "c");
	expect_silence(client);
	lab_proxy_heal(proxy);
	expect_get(client, "c");
}

Test(proxy, keeps_the_order_when_a_delay_shrinks)
{
	lab_proxy_delay(proxy, LAB_UP, 100);
	put(client, "1");
	saw(LAB_UP_CHUNKS, 1);
	lab_proxy_delay(proxy, LAB_UP, 0);
	put(client, "2");
	while (lab_proxy_stat(proxy, LAB_UP_BYTES) < 2)
		lab_nap_ms(1);
	expect_get(server, "12");
}

Test(proxy, cuts_after_so_many_bytes_and_no_other)
{
	put(server, "before");
	expect_get(client, "before");
	lab_proxy_cut(proxy, LAB_DOWN, 5);
	put(client, "unread by the server, which makes a close a reset");
	put(server, "123");
	expect_get(client, "123");
	put(server, "45678");
	expect_get(client, "45");
	expect_get(client, "FIN");
	cr_expect_eq(lab_proxy_stat(proxy, LAB_CUT), 1);

	/* Later connections are cut, too, until the proxy heals. */
	close(client);
	close(server);
	open_pair();
	put(server, "123456");
	expect_get(client, "12345");
	expect_get(client, "FIN");
	lab_proxy_heal(proxy);
	close(client);
	close(server);
	open_pair();
	put(server, "123456");
	expect_get(client, "123456");
}

Test(proxy, cut_at_nothing_ends_connections_at_once)
{
	lab_proxy_cut(proxy, LAB_UP, 0);
	expect_get(client, "FIN");
	expect_get(server, "FIN");
}

Test(proxy, a_hole_loses_nothing_once_it_is_healed)
{
	lab_proxy_hole(proxy, LAB_UP, true);
	put(client, "1");
	expect_silence(server);
	put(server, "the other way is open");
	expect_get(client, "the other way is open");
	put(client, "2");
	close(client); /* the end does not pass, either */
	client = -1;
	expect_silence(server);
	lab_proxy_hole(proxy, LAB_UP, false);
	expect_get(server, "12");
	expect_get(server, "FIN");
}

Test(proxy, half_closes)
{
	lab_proxy_half_close(proxy, LAB_DOWN);
	expect_get(client, "FIN");
	put(client, "can you hear me");
	expect_get(server, "can you hear me");
	put(server, "yes");
	expect_get(client, "FIN");
}
