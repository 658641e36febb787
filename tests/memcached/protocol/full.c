/* SPDX-License-Identifier: Apache-2.0 */
/* A server without memory. */
#include <criterion/criterion.h>

#include "tests/memcached/protocol/rig.h"

TestSuite(memcached_full, .fini = rig_end);

#define FULL "SERVER_ERROR out of memory storing object\r\n"

/* The server has no memory for op 1: the attempt of another claim, or a verb of
 * the holder. */
static void ask_full(enum dlki_verb verb, int meta)
{
	rig_begin_up("", meta);
	if (verb != DLKI_ATTEMPT)
		rig_hold();
	rig_submit(1, verb);
	rig_heard(RIG_MAIN);
	rig_say_slowly(RIG_MAIN, FULL);
}

Test(memcached_full, a_full_server_fails_the_op_alone)
{
	ask_full(DLKI_ATTEMPT, 1);
	rig_submit(0, DLKI_ATTEMPT);
	rig_say_all(NONE, NONE, NULL);
	rig_expect_failed(1,
			  "says 'SERVER_ERROR out of memory storing object'");
	cr_assert(rig_is_open());
	rig_grant();
	cr_assert_eq(rig.ops[0].outcome, DLKI_GRANTED);
}

/* With memory, the server would not have stored the item either. */
Test(memcached_full, a_full_server_tells_that_the_lock_is_held_or_lost)
{
	ask_full(DLKI_ATTEMPT, 1);
	rig_say_all(rig_got(THEIRS, 6), NONE, NULL);
	cr_assert_eq(rig.ops[1].outcome, DLKI_BUSY);
	ask_full(DLKI_RENEW, 1);
	rig_say_all(rig_got(THEIRS, 6), NULL);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[1].stood, 0);
	ask_full(DLKI_RENEW, 1);
	rig_say_all(rig_got(OURS, 5), NULL);
	rig_expect_failed(1,
			  "says 'SERVER_ERROR out of memory storing object'");
}

Test(memcached_full, a_full_server_without_the_other_protocol_is_told_of)
{
	ask_full(DLKI_RELEASE, 0);
	rig_say_slowly(RIG_MAIN, "ERROR\r\n");
	rig_expect_failed(1, "give it more");
	cr_assert(rig_is_open());
}
