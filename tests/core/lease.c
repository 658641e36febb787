/* SPDX-License-Identifier: Apache-2.0 */
/* The promise interval of a hold, and the loss while the store is silent. */
#include "core/fixture.h"

#include <poll.h>

#define MARGIN_MS(ttl) (2 + (ttl) / 100)

TestSuite(lease, .init = timed_fixture, .timeout = 60);

/* Returns the end of a hold's promise on the boot-time clock, to 1 ms. */
static dlk_time end_of(const dlock_hold *h)
{
	dlk_time began;
	int64_t left_ms;

	do {
		began = dlk_now();
		left_ms = dlock_remaining_ms(h);
	} while (dlk_now() > began + DLK_MS);
	return began + left_ms * DLK_MS;
}

CASE(lease, ends_a_ttl_less_the_margin_after_the_request_was_sent)
{
	struct fake_call call;
	dlk_time most, end;

	given_mutex("fake:?ttl=600ms");
	cr_assert_eq(dlock_ttl_ms(client), 600);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .delay_ms = 100);
	hold = take(lock);
	call = fake_last(fake, FAKE_ATTEMPT);
	/* The fake store sets `begin` after the core's time stamp. */
	most = call.begin + (600 - MARGIN_MS(600)) * DLK_MS;
	end = end_of(hold);
	cr_assert_leq(end, most);
	cr_assert_gt(late(end), most - 50 * DLK_MS);
	OK(dlock_release(hold));
}

CASE(lease, that_is_late_and_asked_for_once_is_unreachable)
{
	given_mutex("fake:?ttl=100ms&ask=300ms");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .delay_ms = 60);
	REFUSED(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE,
		"half of the lease");
	cr_assert_null(hold);
	cr_assert_eq(stats(client).holds, 0);
	cr_assert_eq(fake_held(fake), 0);
}

CASE(lease, that_is_lost_before_it_is_told_is_not_held)
{
	given_mutex("fake:?ttl=3s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .lose = 1);
	cr_assert_eq(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE);
	cr_assert_not_null(strstr(dlock_errmsg(), "'a': the claim was taken "
						  "away"),
			   "%s", dlock_errmsg());
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .lose = 1);
	hold = take(lock);
	OK(dlock_check(hold));
	OK(dlock_release(hold));
}

/* `ask` leaves the time for another request. */
CASE(lease, that_is_lost_at_the_deadline_is_asked_for_again)
{
	given_mutex("fake:?ttl=30s&ask=10s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .lose = 1, .delay_ms = 50);
	OK(dlock_acquire(lock, 20, &hold));
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 2);
	OK(dlock_check(hold));
	OK(dlock_release(hold));
}

/* The renewal returns after the end of the lease. The timer finds the end in
 * time. */
CASE(lease, is_lost_once_and_in_time_while_a_renewal_hangs)
{
	struct fake_call call;
	dlk_time until;
	size_t renewals;
	int fd;

	keep_diary();
	given_mutex("fake:?ttl=900ms");
	fake_always(fake, FAKE_RENEW, FAKE_SILENT);
	hold = take(lock);
	fd = dlock_hold_fd(hold);
	cr_assert_geq(fd, 0);
	cr_assert_eq(dlock_hold_fd(hold), fd);
	call = fake_last(fake, FAKE_ATTEMPT);
	until = call.begin + 900 * DLK_MS;
	cr_assert_eq(poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 5000), 1);
	cr_assert_eq(dlock_check(hold), DLOCK_ELOST);
	cr_assert_eq(dlock_remaining_ms(hold), 0);
	EVENTUALLY(diary.losses == 1);
	cr_assert_eq(diary.n, 2);
	cr_assert_eq(diary.page[0].event, DLOCK_AT_RISK);
	cr_assert_eq(diary.page[1].check, DLOCK_ELOST);
	/* The text is the timer's, not the renewal's. */
	cr_assert(strstr(diary.page[1].why, "before it could be renewed"), "%s",
		  diary.page[1].why);
	/* A busy machine may take a moment longer. */
	cr_assert_lt(diary.page[1].at, late(until + 60 * DLK_MS),
		     "told %lld us after the lease's end",
		     (long long)(diary.page[1].at - until) / 1000);
	/* The loss is final, and no further event comes. */
	EVENTUALLY(fake_last(fake, FAKE_RENEW).end != 0);
	fake_clear(fake);
	renewals = fake_count(fake, FAKE_RENEW);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	/* A renewal would be due after a third of a lease. */
	ALL_ALONG(dlock_ttl_ms(client) * 2 / 5,
		  fake_count(fake, FAKE_RENEW) == renewals &&
			  dlock_check(hold) == DLOCK_ELOST && diary.n == 2);
	cr_assert_eq(stats(client).lost, 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "lease ran out");
}

CASE(lease, that_the_store_has_not_is_lost_at_once)
{
	dlk_time told;

	keep_diary();
	given_hold("fake:?ttl=900ms");
	fake_forget(fake);
	EVENTUALLY(diary.losses == 1);
	told = fake_last(fake, FAKE_RENEW).end;
	cr_assert_lt(diary.page[0].at, late(told + 200 * DLK_MS));
	cr_assert(strstr(diary.page[0].why, "no longer has it"));
	REFUSED(dlock_release(hold), DLOCK_ELOST, "no longer has it");
}

CASE(lease, of_all_holds_ends_when_the_session_does)
{
	dlock_hold *b;

	keep_diary();
	given_hold("fake:");
	b = take(mutex(client, "b"));
	cr_assert_eq(dlock_remaining_ms(hold), -1);
	fake_lose_all(fake);
	cr_assert_eq(dlock_check(hold), DLOCK_ELOST);
	cr_assert_eq(dlock_check(b), DLOCK_ELOST);
	fake_lose_all(fake);
	EVENTUALLY(diary.losses == 2);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "says so of all");
	REFUSED(dlock_release(b), DLOCK_ELOST, "says so of all");
	cr_assert_eq(diary.losses, 2);
}

CASE(lease, that_merely_stands_is_not_extended)
{
	dlk_time end;

	given_mutex("fake:?ttl=600ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_SAY, .verdict = DLK_STANDS,
		    .times = FAKE_ALWAYS);
	hold = take(lock);
	end = end_of(hold);
	EVENTUALLY(stats(client).renewed >= 1);
	cr_assert_leq(end_of(hold), end + 2 * DLK_MS);
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

/* The lease began before the machine was started. */
CASE(lease, that_began_long_ago_is_over)
{
	given_mutex("fake:?ttl=30s&check=50ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .since_ms = INT64_C(315360000000));
	hold = take(lock);
	EVENTUALLY(stats(client).lost == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "lease ran out");
}

/* A store without leases extends none. */
CASE(lease, that_does_not_expire_is_not_made_to_by_a_renewal)
{
	given_mutex("fake:?check=20ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_SAY, .verdict = DLK_RENEWED,
		    .times = FAKE_ALWAYS);
	hold = take(lock);
	EVENTUALLY(stats(client).renewed >= 2);
	cr_assert_eq(dlock_remaining_ms(hold), -1);
	OK(dlock_release(hold));
}

CASE(lease, is_renewed_in_time_whatever_the_store_wants)
{
	given_hold("fake:?ttl=900ms&check=10s&max_hold=1h");
	EVENTUALLY(stats(client).renewed >= 3);
	OK(dlock_check(hold));
	/* The lease ends the hold, not max_hold. */
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	EVENTUALLY(stats(client).lost == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "lease ran out");
	fake_clear(fake);
}

CASE(lease, without_expiry_ends_at_max_hold_too)
{
	given_hold("fake:?max_hold=100ms");
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	EVENTUALLY(stats(client).lost == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "max_hold");
}

/* A renewal would be due after 20 s, and no wake will come. */
CASE(lease, of_every_hold_is_looked_at_when_the_server_is_another)
{
	struct taker t = { 0 };
	dlock_client *rival;
	dlock_hold *kept;

	given_hold("fake:?ttl=60s");
	kept = take(mutex(client, "b"));
	rival = closed_at_end(open_store("fake:?ttl=60s", NULL));
	fake_once(fake, FAKE_ATTEMPT, FAKE_BUSY);
	taker_start(&t, mutex(rival, "a"), 30000);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 3);
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_SAY, .verdict = DLK_GONE);
	EVENTUALLY(stats(rival).waiters == 1);
	fake_move(fake);
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	EVENTUALLY(dlock_check(kept) == DLOCK_ELOST);
	cr_assert_eq(fake_last(fake, FAKE_RENEW).n, 2);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(dlock_release(kept), DLOCK_ELOST);
	cr_assert_eq(taker_join(&t), DLOCK_OK);
}

static void *extend_in_a_downgrade(void *h)
{
	EVENTUALLY(fake_count(fake, FAKE_DOWNGRADE) == 1);
	OK(dlock_extend(h, 30000));
	fake_open_gate(fake);
	return NULL;
}

/* The downgrade has the ticket meanwhile. */
CASE(lease, of_a_hold_extended_during_a_downgrade_is_renewed)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *reads;
	pthread_t thread;

	given_rwlock("fake:?ttl=6s");
	o.no_renew = 1;
	OK(dlock_acquire_opts(lock, &o, &hold));
	o.shared = 1;
	OK(dlock_acquire_opts(lock, &o, &reads));
	FAKE_SCRIPT(fake, FAKE_DOWNGRADE, .gate = 1);
	thread = thread_begin(extend_in_a_downgrade, reads);
	OK(dlock_release(hold));
	pthread_join(thread, NULL);
	EVENTUALLY(stats(client).renewed >= 1);
	OK(dlock_release(reads));
}
