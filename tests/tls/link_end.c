/* SPDX-License-Identifier: Apache-2.0 */
/* TLS on the engine's links: how connections end, and fail to begin. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/tls/linked.h"

static const char *why(void)
{
	return rig.e->links[0]->why.text;
}

Test(link, data_and_the_end_come_as_one_edge)
{
	open_up(NULL);
	submit_two(1);
	peer_says("G 1\n", 4);
	deliver(0);
	rig_end(0);
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED, "what came counts");
	rig_turn();
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	cr_assert_str_eq(why(),
			 "127.0.0.1:7000: the server closed the connection");
}

/* A record and the beginning of another. */
Test(link, a_reset_in_the_midst_of_a_record_loses_that_record_alone)
{
	struct script_sock *k;

	open_up(NULL);
	k = &rig.world.socks[0];
	submit_two(1);
	peer_says("G 1\n", 4);
	peer_says("G 2\n", 4);
	deliver(0);
	k->in_to -= 3;
	k->end = -ECONNRESET;
	k->bits |= DLKI_ENDED;
	rig_turn();
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	cr_assert_str_eq(why(), "127.0.0.1:7000: Connection reset by peer");
}

Test(link, the_peers_goodbye_ends_the_connection)
{
	open_up(NULL);
	submit_two(1);
	peer_says("G 1\n", 4);
	SSL_shutdown(client.peer.ssl);
	deliver(0);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.world.socks[0].is_open, 0);
	connect_again(1);
	cr_assert(SSL_session_reused(client.peer.ssl));
}

/* ---- Goodbyes ------------------------------------------------------------ */

/* Return the bytes that the peer has received by the end. */
static int heard_goodbye(int sock)
{
	cr_assert_eq(rig.world.socks[sock].is_open, 0);
	hear(sock);
	return (SSL_get_shutdown(client.peer.ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

Test(link, says_goodbye_at_the_end)
{
	open_up(NULL);
	rig_submit(1, DLKI_ATTEMPT, never);
	say(0, "Z\n");
	cr_assert(heard_goodbye(0));
	connect_again(1);
	cr_assert(SSL_session_reused(client.peer.ssl));
}

Test(link, answers_a_goodbye)
{
	open_up(NULL);
	SSL_shutdown(client.peer.ssl);
	deliver(0);
	rig_turn();
	cr_assert(heard_goodbye(0));
}

/* The rest of the record would be an abandoned request. */
Test(link, says_no_goodbye_in_the_midst_of_a_record)
{
	open_up(NULL);
	script_room(&rig.world, 0, 3);
	rig_submit(1, DLKI_ATTEMPT, never);
	hear(0);
	script_room(&rig.world, 0, SCRIPT_BYTES);
	say(0, "Z\n");
	cr_assert_eq(rig.world.socks[0].is_open, 0);
	cr_assert_eq(rig.world.socks[0].out_len, 0);
}

Test(link, says_no_goodbye_in_a_handshake)
{
	open_securing(NULL);
	hear(0);
	rig_end(0);
	cr_assert_eq(rig.world.socks[0].is_open, 0);
	cr_assert_eq(rig.world.socks[0].out_len, 0);
}

/* ---- No handshake -------------------------------------------------------- */

Test(link, a_silent_server_is_given_up)
{
	open_securing(NULL);
	rig_turn_until(rig.world.clock + 2000 * DLK_MS);
	cr_assert(!rig.world.socks[0].is_open);
	cr_assert_str_eq(why(),
			 "127.0.0.1:7000: no answer to the TLS handshake "
			 "in time; is this a port for TLS?");
}

Test(link, a_server_that_stops_in_the_handshake_is_given_up)
{
	char bytes[40];

	open_securing(NULL);
	hear(0);
	for (dlk_time t = 0; t < 20 && rig.world.socks[0].is_open; t++) {
		size_t n = peer_take(bytes, 1);

		script_says_bytes(&rig.world, 0, bytes, n);
		rig_turn();
		rig_turn_until(rig.world.clock + 200 * DLK_MS);
	}
	cr_assert(!rig.world.socks[0].is_open, "a byte is no reason to wait");
	cr_assert_str_eq(why(), "127.0.0.1:7000: the server stopped in the "
				"midst of the TLS handshake");
}

Test(link, a_server_that_closes_in_the_handshake_is_named_so)
{
	open_client(NULL);
	script_connected(&rig.world, 0);
	rig_end(0);
	cr_assert_str_eq(why(), "127.0.0.1:7000: the server closed the "
				"connection in the TLS handshake");
}

Test(link, a_server_without_tls_gets_no_request)
{
	open_client(NULL);
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_connect(0);
	rig.world.socks[0].out_len = 0;
	script_says(&rig.world, 0, "-ERR unknown command\r\nG 1\n");
	rig_turn();
	cr_assert_eq(rig.world.socks[0].out_len, 0);
	cr_assert_eq(rig.ended[1], 0);
	cr_assert_str_eq(why(), "127.0.0.1:7000: the server answers without "
				"TLS; is this its port for TLS?");
}

Test(link, a_server_that_is_not_believed_gets_no_request)
{
	const struct peer_options stranger = { .cert = "stranger" };

	certs_make(&(struct cert_spec){ .name = "stranger",
					.signer = "other",
					.san = "DNS:localhost" });
	open_client(&stranger);
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_connect(0);
	settle(0);
	cr_assert_not_null(strstr(why(), "127.0.0.1:7000: the certificate is "
					 "signed by 'other', which is not in "),
			   "%s", why());
	cr_assert_str_eq(heard(0), "");
	cr_assert(!rig.world.socks[0].is_open);
	cr_assert_eq(rig.ops[1].since, 0);
}

Test(link, without_a_name_there_is_no_handshake)
{
	client_open(NULL, NULL);
	rig_tls = client.context;
	rig_init("", 1);
	rig_push();
	rig_connect(0);
	cr_assert_not_null(strstr(why(), "127.0.0.1:7000: TLS: no name to look "
					 "for"),
			   "%s", why());
	cr_assert(!rig.world.socks[0].is_open);
}
