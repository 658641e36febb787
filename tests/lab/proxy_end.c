/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a connection does not overtake delayed bytes, and passes no
 * hole. */
#include "lab/base/clock.h"
#include "lab/proxy/impl.h"
#include "pair.h"

#include <sys/socket.h>
#include <unistd.h>

TestSuite(proxy_end, .init = pair_set_up, .fini = pair_tear_down,
	  .timeout = 120);

static void reset(int *fd)
{
	struct linger none = { .l_onoff = 1 };

	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(*fd);
	*fd = -1;
}

/* Ask until the proxy cannot pass a request on: the dead server's kernel
 * answers the first request with RST. */
static void ask_the_dead(void)
{
	for (uint64_t n = 1; n <= 3; n++) {
		put(client, "?");
		saw(LAB_UP_CHUNKS, n);
		expect_silence(client);
	}
}

Test(proxy_end, of_a_server_that_is_reset_gets_through_no_hole)
{
	lab_proxy_hole(proxy, LAB_DOWN, true);
	put(server, "before");
	reset(&server);
	ask_the_dead();
	lab_proxy_heal(proxy);
	expect_get(client, "before");
	expect_get(client, "RST");
}

Test(proxy_end, of_a_server_that_is_closed_gets_through_no_hole)
{
	lab_proxy_hole(proxy, LAB_DOWN, true);
	close(server);
	server = -1;
	ask_the_dead();
	lab_proxy_heal(proxy);
	expect_get(client, "RST");
}

Test(proxy_end, gets_through_no_hole_after_the_first_half_did)
{
	close(server);
	server = -1;
	expect_get(client, "FIN");
	lab_proxy_hole(proxy, LAB_DOWN, true);
	for (uint64_t n = 1; n <= 3; n++) {
		put(client, "?");
		saw(LAB_UP_CHUNKS, n);
		lab_nap_ms(SHORT_MS);
	}
	cr_expect_eq(lab_proxy_stat(proxy, LAB_RESET), 0);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_OPEN), 1);
	lab_proxy_heal(proxy);
	saw(LAB_RESET, 1);
}

Test(proxy_end, of_a_dead_server_is_seen_at_once_without_faults)
{
	put(server, "before");
	reset(&server);
	expect_get(client, "before");
	expect_get(client, "RST");
	cr_expect_eq(lab_proxy_stat(proxy, LAB_RESET), 1);
}

/* On a busy machine the proxy may look only after the end. */
Test(proxy_end, of_a_server_that_was_quicker_than_the_proxy)
{
	int hits = 0;

	for (int i = 0; i < 1000 && hits < 3; i++) {
		close(client);
		close(server);
		open_pair();
		pthread_mutex_lock(&proxy->lock);
		hits += proxy->links->dialing;
		put(server, "before");
		reset(&server);
		pthread_mutex_unlock(&proxy->lock);
		expect_get(client, "before");
		expect_get(client, "RST");
	}
	cr_expect_gt(hits, 0);
	cr_expect_eq(lab_proxy_stat(proxy, LAB_UNREACHED), 0);
}

/* Neither the connect nor the refusal passes. */
Test(proxy_end, of_who_cannot_be_reached_gets_through_no_hole)
{
	close(listener);
	listener = -1;
	for (uint64_t holes = 1; holes <= 3; holes++) {
		lab_proxy_hole(proxy, LAB_UP, holes & 1);
		lab_proxy_hole(proxy, LAB_DOWN, holes & 2);
		close(client);
		client = connect_client(proxy);
		saw(LAB_UNREACHED, holes);
		expect_silence(client);
		put(client, "anybody there?");
		expect_silence(client);
		lab_proxy_heal(proxy);
		expect_get(client, "RST");
	}
}

Test(proxy_end, that_cuts_gets_through_no_hole)
{
	for (int way = 0; way < 2; way++) {
		int held = way == LAB_UP ? server : client;

		lab_proxy_hole(proxy, (enum lab_way)way, true);
		lab_proxy_cut(proxy, LAB_UP, 0);
		expect_get(way == LAB_UP ? client : server, "FIN");
		expect_silence(held);
		lab_proxy_heal(proxy);
		expect_get(held, "FIN");
		close(client);
		close(server);
		open_pair();
	}
}

Test(proxy_end, half_of_it_gets_through_no_hole)
{
	lab_proxy_hole(proxy, LAB_DOWN, true);
	lab_proxy_half_close(proxy, LAB_DOWN);
	expect_silence(client);
	lab_proxy_heal(proxy);
	expect_get(client, "FIN");
}

/* An answer is under way when the end comes. */
static void delayed_answer(int64_t ms)
{
	lab_proxy_delay(proxy, LAB_DOWN, ms);
	put(server, "answer");
	saw(LAB_DOWN_CHUNKS, 1);
}

Test(proxy_end, that_is_a_reset_comes_after_what_is_delayed)
{
	int64_t begin = lab_now();

	delayed_answer(200);
	reset(&server);
	expect_get(client, "answer");
	cr_expect_geq(lab_now() - begin, 200 * LAB_MS);
	expect_get(client, "RST");
}

Test(proxy_end, that_is_found_by_asking_comes_after_what_is_delayed)
{
	delayed_answer(3600000);
	reset(&server);
	ask_the_dead();
	lab_proxy_heal(proxy);
	expect_get(client, "answer");
	expect_get(client, "RST");
}

Test(proxy_end, that_cuts_comes_after_what_is_delayed)
{
	delayed_answer(3600000);
	lab_proxy_cut(proxy, LAB_UP, 0);
	expect_get(server, "FIN");
	put(server, "too late");
	expect_silence(client);
	lab_proxy_heal(proxy);
	expect_get(client, "answer");
	expect_get(client, "FIN");
}

/* The proxy drops bytes beyond the cut, whichever way was cut first. */
Test(proxy_end, that_cuts_both_ways_leaves_nothing_to_do)
{
	lab_proxy_delay(proxy, LAB_UP, 100);
	lab_proxy_cut(proxy, LAB_UP, 3);
	lab_proxy_cut(proxy, LAB_DOWN, 3);
	put(client, "question");
	saw(LAB_UP_CHUNKS, 1);
	put(server, "answer");
	expect_get(client, "ans");
	expect_get(client, "FIN");
	expect_get(server, "que");
	expect_get(server, "FIN");
	while (lab_proxy_stat(proxy, LAB_OPEN))
		lab_nap_ms(1);
}

/* No side waits for the delayed answer, so the link may go. */
Test(proxy_end, of_both_sides_is_the_end)
{
	delayed_answer(3600000);
	reset(&server);
	reset(&client);
	while (lab_proxy_stat(proxy, LAB_OPEN))
		lab_nap_ms(1);
}
