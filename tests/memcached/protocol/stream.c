/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that end the connection, or that the client passes over. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/memcached/protocol/rig.h"

TestSuite(memcached_stream, .init = rig_up, .fini = rig_end);

static void expect_nonsense(enum dlki_verb verb, int meta, const char *bytes,
			    const char *why)
{
	rig_begin_up("", meta);
	rig_hold();
	rig_submit(1, verb);
	rig_submit(3, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, bytes);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_not_null(strstr(rig.errors[1], why), "%s", rig.errors[1]);
	cr_assert(!rig_is_open(), "%s", bytes);
	cr_assert_eq(rig.ops[3].outcome, DLKI_UNANSWERED);
}

Test(memcached_stream, nonsense_ends_the_connection)
{
	static char line[3000];

	expect_nonsense(DLKI_RENEW, 1, "OK\r\n", "the server says 'OK'");
	expect_nonsense(DLKI_RENEW, 1, "STORED\r\nEND\r\n", "says 'END'");
	expect_nonsense(DLKI_RENEW, 0, "STORED\r\nEN\r\n", "says 'EN'");
	expect_nonsense(DLKI_RENEW, 1, "STORED\r\nVA 2 c5\r\nabc\r\n",
			"an item that is too long");
	expect_nonsense(DLKI_RENEW, 0,
			"STORED\r\nVALUE k 0 2 5\r\nab\r\nVALUE\r\n",
			"says 'VALUE'");
	expect_nonsense(DLKI_RELEASE, 1, "STORED\r\n", "says 'STORED'");
	expect_nonsense(DLKI_RELEASE, 0, "HD\r\n", "says 'HD'");
	expect_nonsense(DLKI_RELEASE, 1, "SERVER_ERROR backend failure\r\n",
			"backend failure");
	expect_nonsense(DLKI_INSPECT, 1, "ERROR\r\n", "says 'ERROR'");
	memset(line, 'x', sizeof(line) - 1);
	expect_nonsense(DLKI_RENEW, 1, line, "a line without an end");
}

Test(memcached_stream, an_answer_that_nobody_asked_for_ends_the_connection)
{
	rig_say(RIG_MAIN, "EN\r\n");
	rig_turn();
	cr_assert(!rig_is_open());
}

/* A probe goes behind an op that is over. The probe's answer in the place of
 * the op's shows that the op's answer is missing. */
Test(memcached_stream, a_missing_answer_is_found)
{
	rig_submit(0, DLKI_ATTEMPT);
	rig_submit(1, DLKI_ATTEMPT);
	rig_heard(RIG_MAIN);
	dlki_cancel(&rig.ops[0]);
	dlki_cancel(&rig.ops[1]);
	rig_turn();
	rig_expect("version\r\n");
	rig_grant();
	rig_say(RIG_MAIN, "VERSION 1.6.18\r\n");
	rig_turn();
	cr_assert(!rig_is_open());
}

/* Larger than any buffer. */
Test(memcached_stream, an_item_of_a_megabyte_is_passed_over)
{
	static char item[1 << 20];
	char head[40];

	rig_submit(0, DLKI_ATTEMPT);
	memset(item, 'x', sizeof(item));
	snprintf(head, sizeof(head), "NOT_STORED\r\nVA %zu c9 t-1\r\n",
		 sizeof(item));
	rig_say(RIG_MAIN, head);
	for (size_t i = 0; i < sizeof(item); i += 32768) {
		script_says_bytes(&rig.world, RIG_MAIN, item + i, 32768);
		rig_turn();
	}
	rig_say_all("\r\n", NONE, NULL);
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
}
