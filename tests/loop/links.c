/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: made, greeted, lost, and made again. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/loop/rig.h"

TestSuite(links, .init = rig_up, .fini = rig_free);

static const struct lines *store(void)
{
	return (const struct lines *)rig.e->store;
}

/* Let time pass until socket `sock` is there; then connect and greet. */
static void connect_again(int sock)
{
	for (int i = 0; rig.world.opened <= sock && i < 20; i++)
		rig_turn_until(rig.world.clock + 5000 * DLK_MS);
	cr_assert_eq(rig.world.opened, sock + 1);
	rig_connect(sock);
	cr_assert_str_eq(script_heard(&rig.world, sock), "HI\n");
	rig_say(sock, "HI\n");
}

Test(links, what_was_sent_is_told_and_what_was_not_is_sent_again)
{
	script_room(&rig.world, 0, 6);
	for (int i = 1; i <= 4; i++)
		rig_queue(i, DLKI_ATTEMPT, never);
	rig_push(); /* "A 1\nA ": a part of the second, too */
	rig_end(0);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	cr_assert_neq(rig.ops[2].since, 0);
	cr_assert_eq(rig.ended[3] + rig.ended[4], 0);
	cr_assert_eq(store()->lost, 1);
	connect_again(1);
	cr_assert_str_eq(script_heard(&rig.world, 1), "A 3\nA 4\n");
	rig_say(1, "G 3\nG 4\n");
	cr_assert_eq(rig.ops[3].token, 3);
	cr_assert_eq(rig.ops[4].token, 4);
}

Test(links, a_link_brings_64_kib_a_turn)
{
	static char line[256];
	size_t sent = 0;
	int turns = 0;

	memset(line, 'L', 1);
	line[1] = '\n';
	while (sent < 200 * 1024) {
		script_says(&rig.world, 0, line);
		sent += 2;
	}
	rig_turn();
	cr_assert_eq(rig.world.socks[0].in_from, DLKI_INPUT);
	while (rig.world.socks[0].in_from < rig.world.socks[0].in_to) {
		rig_turn_until(never); /* no edge comes again */
		cr_assert_lt(++turns, 10);
	}
	cr_assert_eq(turns, 3);
}

Test(links, an_event_of_an_earlier_connection_is_dropped)
{
	struct dlki_tag old;
	int reads;

	old = rig.world.socks[0].tag;
	rig_end(0);
	connect_again(1);
	rig_submit(1, DLKI_ATTEMPT, never);
	reads = rig.world.reads;
	rig.world.stray = old;
	rig.world.stray_bits = DLKI_READABLE | DLKI_ENDED;
	rig_turn();
	rig_turn();
	cr_assert_eq(rig.world.reads, reads);
	cr_assert(rig.world.socks[1].is_open);
	cr_assert_eq(rig.ended[1], 0);
	rig.world.stray = (struct dlki_tag){ 99, 0 };
	rig.world.stray_bits = DLKI_READABLE;
	rig_turn();
}

Test(links, a_request_without_an_answer_ends_its_connection)
{
	dlk_time sent;

	for (int i = 0; i < 3; i++)
		rig_turn_until(rig.world.clock + 5000 * DLK_MS);
	rig.world.clock += 777;
	sent = rig.world.clock;
	rig_submit(1, DLKI_ATTEMPT, never);
	for (int i = 0; i < 5 && rig.ended[1] == 0; i++)
		rig_turn_until(never);
	cr_assert_eq(rig.ended_at[1], sent + 1000 * DLK_MS);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert(!rig.world.socks[0].is_open, "never used again");
	cr_assert_not_null(
		strstr(rig.e->links[0]->why.text, "no answer in time"));
}

Test(links, a_server_that_reads_nothing_is_left)
{
	script_room(&rig.world, 0, 0);
	rig_submit(1, DLKI_ATTEMPT, never);
	for (int i = 0; i < 5 && rig.world.socks[0].is_open; i++)
		rig_turn_until(never);
	cr_assert(!rig.world.socks[0].is_open);
	cr_assert_eq(rig.ended[1], 0, "not sent: sent again");
	connect_again(1);
	cr_assert_str_eq(script_heard(&rig.world, 1), "A 1\n");
}

/* No byte of the request was written. */
Test(links, an_answer_ahead_of_the_request_ends_the_connection)
{
	script_room(&rig.world, 0, 0);
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "G 5\n");
	cr_assert(!rig.world.socks[0].is_open);
	cr_assert_eq(rig.ended[1], 0);
	connect_again(1);
	cr_assert_str_eq(script_heard(&rig.world, 1), "A 1\n");
}

/* Each answer begins the patience of the next request. */
Test(links, a_slow_server_that_answers_keeps_its_connection)
{
	for (int i = 1; i < 20; i++) {
		rig_submit(i, DLKI_ATTEMPT, never);
		rig_turn_until(rig.world.clock + 900 * DLK_MS);
		rig_say(0, "G 5\n");
		cr_assert_eq(rig.ops[i].outcome, DLKI_GRANTED, "%d", i);
	}
	cr_assert_eq(rig.world.opened, 1);
}

Test(links, a_reason_names_the_server_once)
{
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "Z\n");
	cr_assert_str_eq(rig.e->links[0]->why.text, "127.0.0.1:7000 sends a Z");
}

/* ---- Connecting ---------------------------------------------------------- */

Test(links, a_connect_that_fails_at_once_is_tried_again_after_a_pause)
{
	rig_init("", 1);
	rig.world.connect_error = -EAGAIN;
	rig_push();
	cr_assert_eq(rig.world.opened, 0);
	cr_assert_eq(rig.down, 1);
	cr_assert_str_eq(rig.told, "127.0.0.1:7000: Resource temporarily "
				   "unavailable");
	rig.world.connect_error = 0;
	rig_turn();
	cr_assert_eq(rig.world.opened, 0);
	rig_turn_until(never);
	cr_assert_eq(rig.world.opened, 1);
}

/* The server greets and closes again and again. */
Test(links, short_connections_come_with_pauses)
{
	dlk_time begun = rig.world.clock;

	for (int i = 0; i < 10; i++) {
		rig_end(i);
		connect_again(i + 1);
	}
	cr_assert_geq(rig.world.clock - begun, 10 * 20 * DLK_MS);
}

Test(links, a_good_connection_that_ends_is_made_again_at_once)
{
	dlk_time lost;

	rig.world.clock += 5000 * DLK_MS;
	lost = rig.world.clock;
	rig_end(0);
	connect_again(1);
	cr_assert_eq(rig.world.clock, lost);
}

Test(links, a_server_that_refuses_us_is_asked_nothing_more)
{
	rig_init("", 2);
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_connect(0);
	rig_say(0, "NO\n");
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_NONE);
	cr_assert_eq(rig.ops[1].since, 0);
	cr_assert_eq(rig.down, 1);
	cr_assert_str_eq(rig.told, "127.0.0.1:7000: refused");
	rig_submit(2, DLKI_ATTEMPT, never);
	rig_turn_until(rig.world.clock + 100000 * DLK_MS);
	cr_assert_eq(rig.ops[2].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[2], "refused");
	cr_assert_eq(rig.world.opened, 1);
	cr_assert(!dlki_engine_is_up(rig.e));
}

Test(links, a_refusal_may_come_ahead_of_the_greeting)
{
	rig_init("", 1);
	rig_submit(1, DLKI_ATTEMPT, never);
	script_room(&rig.world, 0, 0);
	rig_connect(0);
	rig_say(0, "NO\n");
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[1], "refused");
}

/* ---- No socket opens ----------------------------------------------------- */

static int links_wanted;

static int many_links(struct dlki_store *s, struct dlk_error *err)
{
	for (int i = 0; i < links_wanted; i++) {
		if (!dlki_link_open(s, DLKI_ANSWERS))
			return dlk_fail(err, DLOCK_EEXHAUSTED, "link %d", i);
	}
	return 0;
}

Test(engine, that_cannot_be_opened_leaves_nothing)
{
	struct dlki_protocol protocol = lines_protocol;
	struct dlki_address address = { 0 };
	struct dlki_engine_options options = {
		.world = &rig.world.base,
		.protocol = &protocol,
		.place.addresses = &address,
		.place.n_addresses = 1,
	};
	struct dlk_error err;
	struct dlki_engine *e;

	script_init(&rig.world);
	protocol.open = many_links;
	links_wanted = DLKI_LINKS + 1;
	cr_assert_null(dlki_engine_new(&options, &err));
	cr_assert_str_eq(err.text, "link 4");
	links_wanted = DLKI_LINKS;
	e = dlki_engine_new(&options, &err);
	cr_assert_not_null(e);
	dlki_engine_free(e);
	options.place.n_addresses = 0;
	cr_assert_null(dlki_engine_new(&options, &err));
	cr_assert_str_eq(err.text, "link 0");
	options.place.n_addresses = 1;
	rig.world.chance_error = -EIO;
	cr_assert_null(dlki_engine_new(&options, &err));
	cr_assert_str_eq(err.text, "no random bytes");
	dlki_engine_free(NULL);
	script_free(&rig.world);
}
