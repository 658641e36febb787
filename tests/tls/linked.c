/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tls/linked.h"

#include <criterion/criterion.h>
#include <string.h>

void open_client(const struct peer_options *o)
{
	client_open(&(struct dlki_tls_options){ .name = "localhost" }, o);
	rig_tls = client.context;
	rig_init("", 1);
	rig_push();
}

void open_securing(const struct peer_options *o)
{
	open_client(o);
	rig_connect(0);
}

void linked_end(void)
{
	rig_free();
	client_end();
}

void hear(int sock)
{
	struct script_sock *k = &rig.world.socks[sock];

	peer_hears(k->out, k->out_len);
	k->out_len = 0;
}

size_t deliver(int sock)
{
	static char bytes[SCRIPT_BYTES];
	size_t n = peer_take(bytes, sizeof(bytes));

	if (n > 0)
		script_says_bytes(&rig.world, sock, bytes, n);
	return n;
}

void settle(int sock)
{
	for (int i = 0; i < 6; i++) {
		hear(sock);
		deliver(sock);
		rig_turn();
	}
}

const char *heard(int sock)
{
	hear(sock);
	client.peer.said_len = 0;
	return client.peer.said;
}

void say(int sock, const char *text)
{
	peer_says(text, strlen(text));
	deliver(sock);
	rig_turn();
}

void greet(int sock)
{
	rig_connect(sock);
	settle(sock);
	cr_assert_str_eq(heard(sock), "HI\n", "%s", rig.e->links[0]->why.text);
	say(sock, "HI\n");
	cr_assert(dlki_engine_is_up(rig.e));
}

void open_up(const struct peer_options *o)
{
	open_client(o);
	greet(0);
}

void connect_again(int sock)
{
	peer_again();
	for (int i = 0; rig.world.opened <= sock && i < 20; i++)
		rig_turn_until(rig.world.clock + 5000 * DLK_MS);
	cr_assert_eq(rig.world.opened, sock + 1);
	greet(sock);
}

void submit_two(int first)
{
	for (int i = first; i < first + 2; i++)
		rig_queue(i, DLKI_ATTEMPT, DLK_FOREVER);
	rig_push();
}
