/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "pair.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(proxy, .init = pair_set_up, .fini = pair_tear_down, .timeout = 120);

Test(proxy, forwards_both_ways_and_counts)
{
	put(client, "ping");
	expect_get(server, "ping");
	put(server, "pong!");
	expect_get(client, "pong!");
	cr_expect_eq(lab_proxy_stat(proxy, LAB_ACCEPTED), 1);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_OPEN), 1);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_UP_BYTES), 4);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_DOWN_BYTES), 5);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_UP_CHUNKS), 1);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_DOWN_CHUNKS), 1);
	cr_expect_lt(lab_proxy_wait(proxy, LAB_ACCEPTED, 2, 1), 0);
}

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

Test(proxy, passes_much_more_than_it_buffers)
{
	static char data[1 << 20];
	static char seen[1 << 20];
	size_t sent = 0;
	size_t got = 0;
	ssize_t n;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7919 >> 8);
	while (got < sizeof(seen)) {
		if (sent < sizeof(data)) {
			n = send(client, data + sent, sizeof(data) - sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);
			sent += n > 0 ? (size_t)n : 0;
		}
		n = recv(server, seen + got, sizeof(seen) - got,
			 sent < sizeof(data) ? MSG_DONTWAIT : 0);
		cr_assert(n > 0 || (n < 0 && errno == EAGAIN));
		got += n > 0 ? (size_t)n : 0;
	}
	cr_expect_arr_eq(seen, data, sizeof(data));
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

Test(proxy, a_hole_accepts_connections)
{
	lab_proxy_hole(proxy, LAB_UP, true);
	lab_proxy_hole(proxy, LAB_DOWN, true);
	close(client);
	client = connect_client();
	put(client, "anybody there?");
	expect_silence(client);
}

Test(proxy, refuses_new_connections_and_keeps_the_old)
{
	struct lab_address to = { .port = lab_proxy_port(proxy) };

	lab_proxy_refuse(proxy, true);
	lab_proxy_refuse(proxy, true);
	cr_expect_lt(lab_connect(&to, lab_after_ms(LONG_MS)), 0);
	cr_expect_eq(errno, ECONNREFUSED);
	put(client, "old");
	expect_get(server, "old");
	lab_proxy_heal(proxy);
	close(client);
	close(server);
	open_pair();
	put(client, "new");
	expect_get(server, "new");
}

Test(proxy, resets_both_ends)
{
	lab_proxy_reset(proxy);
	expect_get(client, "RST");
	expect_get(server, "RST");
	cr_expect_eq(lab_proxy_stat(proxy, LAB_RESET), 1);
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
