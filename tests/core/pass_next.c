/* SPDX-License-Identifier: Apache-2.0 */
/* Passed claims: the next hold has an end, a descriptor and events of its own.
 *  */
#include "core/passing.h"

#include <fcntl.h>

TestSuite(pass_next, .init = timed_fixture, .timeout = 120);

/* ---- Losses -------------------------------------------------------------- */

/* The waiters ask the store, and only the holder hears of the loss. */
CASE(pass_next, of_a_lost_claim_sends_the_waiters_to_the_store)
{
	struct taker t[2] = { { 0 } };
	uint64_t token;

	keep_diary();
	given_hold("fakewant:");
	n_wait_here(t, 2);
	cr_assert_eq(asked(), 1);
	lose_last();
	token = dlock_token(hold);
	EVENTUALLY(t[0].done || t[1].done);
	EVENTUALLY(diary.losses == 1); /* no event follows the release */
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	each_has_had_it(t, 2);
	cr_assert_gt(t[0].token, token);
	cr_assert_gt(t[1].token, token);
	cr_assert_eq(diary.losses, 1);
	cr_assert_eq(diary.page[diary.n - 1].hold, hold);
	nothing_is_left();
	cr_assert_geq(asked(), 2);
}

/* ---- What the next hold has ---------------------------------------------- */

CASE(pass_next, of_what_is_at_risk_is_the_store_s)
{
	struct taker t = { 0 };

	keep_diary();
	given_mutex("fakewant:?ttl=3s");
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	wait_here(&t, FOREVER);
	EVENTUALLY(diary.risks == 1);
	cr_assert_eq(diary.page[0].hold, hold);
	OK(dlock_release(hold));
	has_it(&t);
	cr_assert_eq(stats(client).passed, 0);
	fake_clear(fake);
	OK(let_go(&t));
	cr_assert_eq(diary.n, 1);
}

CASE(pass_next, leaves_the_former_holder_s_descriptor_behind)
{
	struct taker t = { 0 };
	int fd;

	keep_diary();
	given_hold("fakewant:");
	wait_here(&t, FOREVER);
	fd = dlock_hold_fd(hold);
	cr_assert_geq(fd, 0);
	OK(dlock_release(hold));
	cr_assert_eq(fcntl(fd, F_GETFD), -1);
	has_it(&t);
	fd = dlock_hold_fd(t.hold);
	cr_assert(!is_readable(fd, 0));
	lose_last();
	cr_assert(is_readable(fd, 0));
	EVENTUALLY(diary.losses == 1);
	cr_assert_eq(diary.page[0].hold, t.hold);
	let_go(&t);
	cr_assert_eq(t.release_rc, DLOCK_ELOST);
	nothing_is_left();
}
