/* SPDX-License-Identifier: Apache-2.0 */
/* Kept claims that are lost, or meet a store or an end of another kind. */
#include "core/passing.h"

#include <sys/wait.h>
#include <unistd.h>

TestSuite(keep_end, .init = timed_fixture, .timeout = 120);

static void given_kept(const char *uri)
{
	given_mutex(uri);
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).kept, 1);
}

/* Nothing is told, for nobody held it; the next acquire asks the store. */
static void is_worth_nothing(void)
{
	EVENTUALLY(stats(client).kept == 0);
	hold = take(lock);
	cr_assert_eq(asked(), 2);
	cr_assert_eq(stats(client).retaken, 0);
	cr_assert_eq(stats(client).lost, 0);
	cr_assert_eq(diary.n, 0);
	OK(dlock_release(hold));
}

CASE(keep_end, by_a_loss_is_nobody_s_loss)
{
	keep_diary();
	given_kept("fakewant:?keep=1h");
	fake_forget(fake);
	lose_last();
	is_worth_nothing();
}

CASE(keep_end, by_the_loss_of_all_is_nobody_s_loss)
{
	keep_diary();
	given_kept("fakewant:?keep=1h");
	fake_forget(fake);
	fake_lose_all(fake);
	is_worth_nothing();
}

CASE(keep_end, comes_with_another_server)
{
	keep_diary();
	given_kept("fakewant:?keep=1h");
	fake_forget(fake);
	fake_move(fake);
	is_worth_nothing();
}

CASE(keep_end, is_a_clean_up_where_the_store_is_silent)
{
	given_kept("fakewant:?keep=100ms&close=300ms");
	fake_always(fake, FAKE_RELEASE, FAKE_REFUSE);
	EVENTUALLY(stats(client).kept == 0);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) >= 2);
	cr_assert_eq(stats(client).pending_cleanups, 1);
	cr_assert_eq(fake_held(fake), 1);
	fake_clear(fake);
	nothing_is_left();
}

/* A lost answer: the acquire that comes next has it cleaned up first. */
CASE(keep_end, that_fails_is_not_in_the_way_of_the_client)
{
	given_kept("fakewant:?keep=100ms&close=300ms");
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_SILENT, .times = 2);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) >= 1);
	hold = take(lock);
	cr_assert_geq(asked(), 2);
	OK(dlock_release(hold));
	fake_clear(fake);
	nothing_is_left();
}

CASE(keep_end, comes_with_the_client_s)
{
	given_kept("fakewant:?keep=1h");
	close_client_within(1000);
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	given_kept("fakewantall:?keep=1h");
	close_client_within(1000);
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE_ALL), 1);
}

CASE(keep_end, does_not_hold_up_the_client_s)
{
	given_kept("fakewant:?keep=1h&close=200ms");
	fake_always(fake, FAKE_RELEASE, FAKE_SILENT);
	close_client_within(200 + slack_ms());
	fake_clear(fake);
	fake_forget(fake);
}

CASE(keep_end, is_not_a_forked_child_s)
{
	int status;
	pid_t pid;

	given_kept("fakewant:?keep=1h");
	pid = fork();
	if (pid == 0) {
		dlock_hold *none;
		int rc;

		alarm(20);
		rc = dlock_acquire(lock, 0, &none);
		dlock_close(client);
		_exit(rc != DLOCK_EFORKED);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_eq(fake_held(fake), 1);
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).retaken, 1);
}

/* A first request that arrives late is followed up for a lease, as if the claim
 * had been released at once. */
CASE(keep_end, of_a_claim_that_was_asked_for_twice_is_followed_up)
{
	given_mutex("fakewant:?ttl=1s&keep=100ms");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .resent = 1, .late_ms = 600);
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).kept, 1);
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).retaken, 1);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) >= 1);
	cr_assert_eq(stats(client).pending_cleanups, 1);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_gt(fake_count(fake, FAKE_RELEASE), 1);
	nothing_is_left();
}

/* The renewal is under way when the claim is kept and taken again. */
CASE(keep_end, may_come_while_it_is_renewed)
{
	given_mutex("fakewant:?ttl=900ms&keep=400ms");
	hold = take(lock);
	OK(dlock_release(hold));
	hold = take(lock);
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).kept, 1);
	hold = take(lock);
	fake_open_gate(fake);
	EVENTUALLY(stats(client).renewed >= 2);
	OK(dlock_check(hold));
	OK(dlock_release(hold));
	nothing_is_left();
}

/* What was renewed in vain is not taken again. */
CASE(keep_end, comes_with_a_renewal_that_finds_nothing)
{
	keep_diary();
	given_kept("fakewant:?check=300ms&keep=1h");
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1);
	hold = take(lock);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).kept, 1);
	fake_forget(fake);
	fake_open_gate(fake);
	EVENTUALLY(stats(client).kept == 0);
	hold = take(lock);
	cr_assert_eq(asked(), 2);
	OK(dlock_release(hold));
}

/* ---- Races --------------------------------------------------------------- */

enum { TURNS = 1500, TURNS_SANITIZED = 500 };

static atomic_int inside;
static _Atomic uint64_t last_token;
static atomic_int busy; /* threads that have turns left */

/* `meet`: hold the lock until another thread waits for it, if one has turns
 * left. */
static void one_turn(dlock_lock *l, int meet)
{
	dlock_hold *h = take(l, FOREVER);

	CHECK_INT(atomic_fetch_add(&inside, 1), ==, 0);
	CHECK_INT(dlock_token(h), >, last_token);
	last_token = dlock_token(h);
	while (meet && busy > 1 && stats(client).waiters == 0)
		nap_us(20);
	atomic_fetch_sub(&inside, 1);
	CHECK_OK(dlock_release(h));
}

static void take_turns_of(dlock_lock *l, int meet)
{
	int turns = sanitized() ? TURNS_SANITIZED : TURNS;

	for (int i = 0; i < turns; i++) {
		one_turn(l, meet && i % 7 == 1);
		if (i % 7 == 0)
			nap_us(i % 50);
	}
	busy--;
}

static void *take_turns(void *l)
{
	take_turns_of(l, 0);
	return NULL;
}

/* Threads that run one after another pass nothing; these threads meet. */
static void *take_turns_and_meet(void *l)
{
	take_turns_of(l, 1);
	return NULL;
}

static void two_sessions(const char *uri, int n_here, int n_there)
{
	void *(*turns)(void *) = n_there > 0 ? take_turns : take_turns_and_meet;
	pthread_t thread[16];
	int n = 0;

	given_mutex(uri);
	given_others();
	busy = n_here + n_there;
	for (; n < n_here; n++)
		cr_assert_eq(pthread_create(&thread[n], NULL, turns, lock), 0);
	for (; n < n_here + n_there; n++)
		cr_assert_eq(pthread_create(&thread[n], NULL, take_turns,
					    theirs),
			     0);
	while (n > 0)
		pthread_join(thread[--n], NULL);
	/* A kept lock goes back when the other session asks, and by that only:
	 * whichever session had the last turn. */
	one_turn(lock, 0);
	one_turn(theirs, 0);
	nothing_is_left();
}

CASE(keep_end, in_the_instant_of_an_acquire_has_one_holder)
{
	two_sessions("fakewant:?keep=1h", 1, 1);
	cr_assert_eq(stats(client).pending_cleanups, 0);
}

CASE(keep_end, and_passes_have_one_holder)
{
	two_sessions("fakewant:?keep=1h&ttl=4h", 4, 2);
}

CASE(keep_end, and_passes_beyond_the_order_have_one_holder)
{
	two_sessions("fakewant:?keep=20ms&ttl=300ms&passes=5", 4, 1);
}

CASE(keep_end, passes_of_eight_threads_have_one_holder)
{
	two_sessions("fakewant:", 8, 0);
	cr_assert_gt(stats(client).passed, 100);
}
