/* SPDX-License-Identifier: Apache-2.0 */
/* TLS on the engine's links, byte by byte, in a scripted world. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/tls/linked.h"

TestSuite(link, .init = certs_begin, .fini = linked_end);

/* ---- Up ------------------------------------------------------------------ */

Test(link, is_greeted_when_the_handshake_is_done)
{
	open_securing(NULL);
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
	rig_connect(0);
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

	open_securing(NULL);
	hear(0);
	while (peer_take(&byte, 1) == 1) {
		cr_assert_eq(rig.e->links[0]->state, DLKI_LINK_SECURING);
		script_says_bytes(&rig.world, 0, &byte, 1);
		rig_turn();
	}
	cr_assert_str_eq(heard(0), "HI\n");
	peer_says("HI\n", 3);
	while (peer_take(&byte, 1) == 1) {
		cr_assert_eq(rig.up, 0);
		script_says_bytes(&rig.world, 0, &byte, 1);
		rig_turn();
	}
	cr_assert_eq(rig.up, 1);
}

/* The last bytes of TLS 1.2's handshake are the server's. */
Test(link, bytes_behind_the_handshake_are_read)
{
	const struct peer_options tls12 = { .version = TLS1_2_VERSION };

	open_securing(&tls12);
	hear(0);
	deliver(0);
	rig_turn();
	hear(0);
	peer_says("HI\n", 3);
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
		peer_says("G 1\n", 4);
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
		peer_says(text, 1000);
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
	dlki_send(rig.e->links[0], DLKI_GREET, NULL, text, sizeof(text));
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
	rig_end(0);
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
	rig_end(0);
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
