/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis protocol of the engine, with a real server. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "support/wait.h"
#include "tests/redis/protocol/side.h"

/* ---- Exclusive ----------------------------------------------------------- */

Test(redis_engine, a_lock_is_granted_renewed_and_released, .init = side_setup,
     .fini = side_teardown)
{
	dlk_time before = dlk_now();
	struct claim c, d;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
	cr_assert_gt(c.token, 0);
	cr_assert_geq(c.op.since, before);
	cr_assert_eq(c.op.lease_ms, TTL_MS * slowness());
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_BUSY);
	cr_assert_gt(d.op.look_in_ms, 0);
	cr_assert_gt(d.op.store_clock_us, 1600000000000000);
	cr_assert_eq(claim_call(&d, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0, "never created again");
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_gt(d.token, c.token);
	cr_assert_eq(claim_call(&d, DLKI_RELEASE), DLKI_ANSWERED);
}

Test(redis_engine, a_release_pushes_the_grant_with_the_clock,
     .init = side_setup, .fini = side_teardown)
{
	dlk_time asked, released, since;
	struct claim c, d;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	claim_ask_in_vain(&d);
	asked = d.op.since;
	nap_ms(20);
	released = dlk_now();
	cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	claim_await_push(&d);
	cr_assert_gt(d.token, c.token);
	cr_assert_geq(side_b.pushed_clock, d.op.store_clock_us);
	/* Not from before the release by more than the way of the attempt, and
	 * in no case from after the grant. */
	since = asked +
		(dlk_time)(side_b.pushed_clock - d.op.store_clock_us) * 1000;
	cr_assert_geq(since, asked + 10 * DLK_MS);
	cr_assert_leq(since, dlk_now());
	cr_assert_geq(since + slack_ms() * DLK_MS, released);
	cr_assert_eq(claim_call(&d, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(d.op.stood, 1);
	cr_assert_eq(claim_call(&d, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(d.op.stood, 1);
}

Test(redis_engine, what_is_ours_is_granted_again, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c;
	uint64_t token;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	token = c.token;
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(c.token, token);
}

/* ---- Shared and counted -------------------------------------------------- */

Test(redis_engine, readers_share_and_a_writer_has_its_turn, .init = side_setup,
     .fini = side_teardown)
{
	struct claim r1, r2, w, late;

	claim_prepare(&r1, &side_a, 1, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&r2, &side_b, 2, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&w, &side_b, 3, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&late, &side_a, 4, DLK_LOCK, DLK_SHARED, 0);
	cr_assert_eq(claim_call(&r1, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(claim_call(&r2, DLKI_ATTEMPT), DLKI_GRANTED);
	claim_ask_in_vain(&w);
	claim_ask_in_vain(&late);
	cr_assert_eq(claim_call(&r1, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(r1.op.stood, 1);
	cr_assert_eq(claim_call(&r1, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(claim_call(&r2, DLKI_RELEASE), DLKI_ANSWERED);
	claim_await_push(&w);
	cr_assert_eq(claim_call(&w, DLKI_RELEASE), DLKI_ANSWERED);
	claim_await_push(&late);
	cr_assert_gt(late.token, w.token);
	cr_assert_gt(side_a.pushed_clock, 0);
	cr_assert_eq(claim_call(&late, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(late.op.stood, 1);
}

Test(redis_engine, a_semaphore_counts, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c, d, e, other;

	claim_prepare(&c, &side_a, 1, DLK_SEMAPHORE, DLK_SHARED, 2);
	claim_prepare(&d, &side_a, 2, DLK_SEMAPHORE, DLK_SHARED, 2);
	claim_prepare(&e, &side_b, 3, DLK_SEMAPHORE, DLK_SHARED, 2);
	claim_prepare(&other, &side_b, 4, DLK_SEMAPHORE, DLK_SHARED, 3);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_GRANTED);
	claim_ask_in_vain(&e);
	cr_assert_eq(claim_call(&other, DLKI_ATTEMPT), DLKI_FAILED);
	cr_assert_str_eq(other.error, "semaphore 'n' has 2 permits, not 3");
	cr_assert_eq(claim_call(&d, DLKI_RELEASE), DLKI_ANSWERED);
	claim_await_push(&e);
	cr_assert_eq(claim_call(&e, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(e.op.stood, 1);
}

/* ---- The server ---------------------------------------------------------- */

Test(redis_engine, a_server_that_forgot_the_scripts_is_told_again,
     .init = side_setup, .fini = side_teardown)
{
	struct claim c;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
		cr_assert_eq(lab_redis_do(server, NULL, 0, "SCRIPT FLUSH"), 0);
		cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
		cr_assert_eq(c.op.stood, 1);
		cr_assert_eq(lab_redis_do(server, NULL, 0, "SCRIPT FLUSH"), 0);
		cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
		cr_assert_eq(c.op.stood, 1);
	}
}

/* A request that is written before the loss of its connection is read ends
 * UNANSWERED, and is asked again over the next connection. */
static enum dlki_outcome call_over_a_loss(struct claim *c, enum dlki_verb verb)
{
	enum dlki_outcome outcome = claim_call(c, verb);

	if (outcome != DLKI_UNANSWERED)
		return outcome;
	c->op.again = 1;
	return claim_call(c, verb);
}

Test(redis_engine, killed_connections_are_made_again, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c, d;
	int looks;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	claim_ask_in_vain(&d);
	looks = side_b.looks;
	cr_assert_eq(lab_redis_do(server, NULL, 0, "CLIENT KILL TYPE pubsub"),
		     0);
	side_await(&side_b, &side_b.looks, looks + 1);
	cr_assert_eq(lab_redis_do(server, NULL, 0, "CLIENT KILL TYPE normal"),
		     0);
	cr_assert_eq(call_over_a_loss(&d, DLKI_ATTEMPT), DLKI_BUSY);
	cr_assert_eq(call_over_a_loss(&c, DLKI_RELEASE), DLKI_ANSWERED);
	claim_await_push(&d);
}

Test(redis_engine, a_break_is_seen_by_the_next_renewal, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(lab_redis_do(server, NULL, 0, "FLUSHALL"), 0);
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
	cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
}

Test(redis_engine, a_wrong_password_fails_every_op, .fini = side_teardown)
{
	struct lab_redis_options options = { .password = "right" };
	struct claim c;

	server = lab_redis_start(&options);
	cr_assert_not_null(server);
	side_open_redis(&side_a, ":wrong@", "");
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_FAILED);
	cr_assert_not_null(strstr(c.error, "refused our"), "%s", c.error);
	cr_assert_null(strstr(c.error, "wrong"));
	side_close(&side_a);
	side_open_redis(&side_b, ":right@", "");
	claim_prepare(&c, &side_b, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c.error);
}
