/* SPDX-License-Identifier: Apache-2.0 */
/* TLS on the engine's links, in a world that the test plays. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/loop/rig.h"
#include "tests/tls/client.h"

static const dlk_time never = DLK_FOREVER;

static void open_client(const struct peer_options *o)
{
	client_open(&(struct dlki_tls_options){ .name = "localhost" }, o);
	rig_tls = client.context;
	rig_init("", 1);
	rig_push();
}

static void begin(void)
{
	certs_begin();
}

static void end(void)
{
	rig_free();
	client_close();
	certs_end();
}

TestSuite(link, .init = begin, .fini = end);

/* The engine's ciphertext to the peer. */
static void hear(int sock)
{
	struct script_sock *k = &rig.world.socks[sock];

	peer_hears(&client.peer, k->out, k->out_len);
	k->out_len = 0;
}

/* The peer's ciphertext to the engine, as one edge. */
static size_t deliver(int sock)
{
	static char bytes[SCRIPT_BYTES];
	size_t n = peer_take(&client.peer, bytes, sizeof(bytes));

	if (n > 0)
		script_says_bytes(&rig.world, sock, bytes, n);
	return n;
}

static void settle(int sock)
{
	for (int i = 0; i < 6; i++) {
		hear(sock);
		deliver(sock);
		rig_turn();
	}
}

/* The plaintext of the engine's since the last call. */
static const char *heard(int sock)
{
	hear(sock);
	client.peer.said_len = 0;
	return client.peer.said;
}

static void say(int sock, const char *text)
{
	peer_says(&client.peer, text, strlen(text));
	deliver(sock);
	rig_turn();
}

static void greet(int sock)
{
	script_connected(&rig.world, sock);
	rig_turn();
	settle(sock);
	cr_assert_str_eq(heard(sock), "HI\n", "%s", rig.e->links[0]->why.text);
	say(sock, "HI\n");
	cr_assert(dlki_engine_is_up(rig.e));
}

static void open_up(const struct peer_options *o)
{
	open_client(o);
	greet(0);
}

static void connect_again(int sock)
{
	peer_again(&client.peer);
	for (int i = 0; rig.world.opened <= sock && i < 20; i++)
		rig_turn_until(rig.world.clock + 5000 * DLK_MS);
	cr_assert_eq(rig.world.opened, sock + 1);
	greet(sock);
}

/* Both in a record. */
static void submit_two(int first)
{
	for (int i = first; i < first + 2; i++) {
		rig.ops[i].verb = DLKI_ATTEMPT;
		rig.ops[i].deadline = never;
		dlki_submit(rig.e, &rig.ops[i]);
	}
	rig_push();
}

static const char *why(void)
{
	return rig.e->links[0]->why.text;
}

/* ---- Up ------------------------------------------------------------------ */

Test(link, is_greeted_when_the_handshake_is_done)
{
	open_client(NULL);
	script_connected(&rig.world, 0);
	rig_turn();
	cr_assert_eq(rig.e->links[0]->state, DLKI_LINK_SECURING);
	cr_assert_gt(rig.world.socks[0].out_len, 100, "the client begins");
	hear(0);
	deliver(0);
	cr_assert_eq(rig.up, 0);
	rig_turn();
	cr_assert_eq(rig.e->links[0]->state, DLKI_LINK_GREETING);
	cr_assert_str_eq(heard(0), "HI\n", "in the same turn");
	say(0, "HI\n");
	cr_assert_eq(rig.up, 1);
	rig_submit(1, DLKI_ATTEMPT, never);
	cr_assert_str_eq(heard(0), "A 1\n");
	say(0, "G 7\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[1].token, 7);
}

Test(link, that_shakes_hands_is_a_try_that_is_under_way)
{
	open_client(NULL);
	cr_assert(dlki_engine_hurry(rig.e));
	script_connected(&rig.world, 0);
	rig_turn();
	cr_assert_eq(rig.e->links[0]->state, DLKI_LINK_SECURING);
	cr_assert(dlki_engine_hurry(rig.e));
	settle(0);
	cr_assert_eq(rig.e->links[0]->state, DLKI_LINK_GREETING);
	cr_assert(dlki_engine_hurry(rig.e));
	say(0, "HI\n");
	cr_assert_not(dlki_engine_hurry(rig.e));
}

Test(link, takes_bytes_one_by_one)
{
	char byte;

	open_client(NULL);
	script_connected(&rig.world, 0);
	rig_turn();
	hear(0);
	while (peer_take(&client.peer, &byte, 1) == 1) {
		cr_assert_eq(rig.e->links[0]->state, DLKI_LINK_SECURING);
		script_says_bytes(&rig.world, 0, &byte, 1);
		rig_turn();
	}
	cr_assert_str_eq(heard(0), "HI\n");
	peer_says(&client.peer, "HI\n", 3);
	while (peer_take(&client.peer, &byte, 1) == 1) {
		cr_assert_eq(rig.up, 0);
		script_says_bytes(&rig.world, 0, &byte, 1);
		rig_turn();
	}
	cr_assert_eq(rig.up, 1);
}

/* The last bytes of TLS 1.2's handshake are the server's. */
Test(link, what_comes_with_the_handshake_is_read)
{
	const struct peer_options tls12 = { .version = TLS1_2_VERSION };

	open_client(&tls12);
	script_connected(&rig.world, 0);
	rig_turn();
	hear(0);
	deliver(0);
	rig_turn();
	hear(0);
	peer_says(&client.peer, "HI\n", 3);
	deliver(0);
	rig_turn();
	cr_assert_eq(rig.up, 1);
	cr_assert_str_eq(heard(0), "HI\n");
}

Test(link, many_records_are_read_at_once)
{
	open_up(NULL);
	submit_two(1);
	submit_two(3);
	for (int i = 1; i <= 4; i++)
		peer_says(&client.peer, "G 1\n", 4);
	deliver(0);
	rig_turn();
	for (int i = 1; i <= 4; i++)
		cr_assert_eq(rig.ended[i], 1);
}

/* Records of 1,022 bytes: of the first 64 KiB, 64 are whole. */
Test(link, brings_64_kib_a_turn_and_keeps_no_plaintext)
{
	static char text[1001];
	int turns = 0;

	open_up(NULL);
	for (int i = 0; i < 250; i++)
		memcpy(text + 4 * i, "W 1\n", 4);
	for (int i = 0; i < 200; i++)
		peer_says(&client.peer, text, 1000);
	rig.world.socks[0].in_from = rig.world.socks[0].in_to;
	cr_assert_eq(deliver(0), 200 * 1022);
	rig_turn();
	cr_assert_eq(rig.world.socks[0].in_from, DLKI_INPUT);
	cr_assert_eq(rig.woken, 64 * 250);
	while (rig.woken < 200 * 250) {
		rig_turn_until(never); /* no edge comes again */
		cr_assert_lt(++turns, 10);
	}
	cr_assert_eq(turns, 3);
}

Test(link, a_large_request_goes_in_several_records)
{
	static char text[100000];

	open_up(NULL);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	dlki_send(rig.e->links[0], DLKI_GREET, NULL, 1, text, sizeof(text));
	client.peer.said_len = 0;
	rig_push();
	hear(0);
	cr_assert_eq(client.peer.said_len, sizeof(text));
	cr_assert_eq(memcmp(client.peer.said, text, sizeof(text)), 0);
}

/* ---- since, and which requests were sent --------------------------------- */

Test(link, since_is_read_before_the_write_of_the_record)
{
	dlk_time before;

	open_up(NULL);
	rig.world.per_write = 5 * DLK_MS;
	before = rig.world.clock;
	submit_two(1);
	cr_assert_eq(rig.world.clock, before + 5 * DLK_MS);
	say(0, "G 1\nG 2\n");
	cr_assert_eq(rig.ops[1].since, before);
	cr_assert_eq(rig.ops[2].since, before);
}

Test(link, since_is_of_the_write_that_took_the_records_first_byte)
{
	dlk_time first;

	open_up(NULL);
	script_room(&rig.world, 0, 0);
	submit_two(1);
	rig.world.clock += 7 * DLK_MS;
	first = rig.world.clock;
	script_room(&rig.world, 0, 1);
	rig_turn();
	rig.world.clock += 7 * DLK_MS;
	script_room(&rig.world, 0, 1000);
	rig_turn();
	cr_assert_str_eq(heard(0), "A 1\nA 2\n");
	say(0, "G 1\nG 2\n");
	cr_assert_eq(rig.ops[1].since, first);
	cr_assert_eq(rig.ops[2].since, first);
}

Test(link, a_byte_of_the_record_counts_for_all_of_its_requests)
{
	open_up(NULL);
	script_room(&rig.world, 0, 1);
	submit_two(1);
	submit_two(3);
	script_ends(&rig.world, 0);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	cr_assert_neq(rig.ops[2].since, 0);
	cr_assert_eq(rig.ended[3] + rig.ended[4], 0);
	connect_again(1);
	cr_assert_str_eq(heard(1), "A 3\nA 4\n");
}

Test(link, a_record_of_which_no_byte_was_taken_was_not_sent)
{
	open_up(NULL);
	script_room(&rig.world, 0, 0);
	submit_two(1);
	script_ends(&rig.world, 0);
	rig_turn();
	cr_assert_eq(rig.ended[1] + rig.ended[2], 0);
	connect_again(1);
	cr_assert_str_eq(heard(1), "A 1\nA 2\n");
	say(1, "G 1\nG 2\n");
	cr_assert_eq(rig.ops[2].outcome, DLKI_GRANTED);
}

/* ---- Keys ---------------------------------------------------------------- */

Test(link, new_keys_are_answered_at_the_end_of_the_turn)
{
	open_up(NULL);
	for (int i = 1; i < 4; i++) {
		SSL_key_update(client.peer.ssl, SSL_KEY_UPDATE_REQUESTED);
		say(0, "L\n");
		cr_assert_gt(rig.world.socks[0].out_len, 0);
		rig_submit(i, DLKI_ATTEMPT, never);
		cr_assert_neq(heard(0)[0], '\0');
		say(0, "G 1\n");
		cr_assert_eq(rig.ops[i].outcome, DLKI_GRANTED);
	}
}

Test(link, new_keys_come_behind_a_record_that_waits)
{
	open_up(NULL);
	script_room(&rig.world, 0, 3);
	submit_two(1);
	SSL_key_update(client.peer.ssl, SSL_KEY_UPDATE_REQUESTED);
	say(0, "L\n");
	submit_two(3);
	script_room(&rig.world, 0, SCRIPT_BYTES);
	rig_turn();
	cr_assert_str_eq(heard(0), "A 1\nA 2\nA 3\nA 4\n");
}

/* ---- The end ------------------------------------------------------------- */

Test(link, data_and_the_end_come_as_one_edge)
{
	open_up(NULL);
	submit_two(1);
	peer_says(&client.peer, "G 1\n", 4);
	deliver(0);
	script_ends(&rig.world, 0);
	rig_turn();
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
	peer_says(&client.peer, "G 1\n", 4);
	peer_says(&client.peer, "G 2\n", 4);
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
	peer_says(&client.peer, "G 1\n", 4);
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

/* What the peer has heard by the end of the connection. */
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

/* The rest of the record would be a request that nobody waits for. */
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
	open_client(NULL);
	script_connected(&rig.world, 0);
	rig_turn();
	hear(0);
	script_ends(&rig.world, 0);
	rig_turn();
	cr_assert_eq(rig.world.socks[0].is_open, 0);
	cr_assert_eq(rig.world.socks[0].out_len, 0);
}

/* ---- Nonsense ------------------------------------------------------------ */

Test(link, a_record_that_was_changed_ends_the_connection)
{
	struct script_sock *k;

	open_up(NULL);
	k = &rig.world.socks[0];
	submit_two(1);
	peer_says(&client.peer, "G 1\n", 4);
	peer_says(&client.peer, "G 2\n", 4);
	deliver(0);
	k->in[k->in_to - 1] ^= 1;
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	cr_assert_not_null(strstr(why(), "127.0.0.1:7000: the server's TLS "
					 "makes no sense: "));
}

/* ---- No handshake -------------------------------------------------------- */

Test(link, a_silent_server_is_given_up)
{
	open_client(NULL);
	script_connected(&rig.world, 0);
	rig_turn();
	rig_turn_until(rig.world.clock + 2000 * DLK_MS);
	cr_assert(!rig.world.socks[0].is_open);
	cr_assert_str_eq(why(),
			 "127.0.0.1:7000: no answer to the TLS handshake "
			 "in time; is this a port for TLS?");
}

Test(link, a_server_that_stops_in_the_handshake_is_given_up)
{
	char bytes[40];

	open_client(NULL);
	script_connected(&rig.world, 0);
	rig_turn();
	hear(0);
	for (dlk_time t = 0; t < 20 && rig.world.socks[0].is_open; t++) {
		size_t n = peer_take(&client.peer, bytes, 1);

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
	script_ends(&rig.world, 0);
	rig_turn();
	cr_assert_str_eq(why(), "127.0.0.1:7000: the server closed the "
				"connection in the TLS handshake");
}

Test(link, a_server_without_tls_gets_no_request)
{
	open_client(NULL);
	rig_submit(1, DLKI_ATTEMPT, never);
	script_connected(&rig.world, 0);
	rig_turn();
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
	script_connected(&rig.world, 0);
	rig_turn();
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
	script_connected(&rig.world, 0);
	rig_turn();
	cr_assert_not_null(strstr(why(), "127.0.0.1:7000: TLS: no name to look "
					 "for"),
			   "%s", why());
	cr_assert(!rig.world.socks[0].is_open);
}
