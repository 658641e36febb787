/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls for multi-locks. */
#include "core/calls.h"

#include <stdio.h>

#include "core/client.h"

static struct fake *one, *two;
static dlock_client *a, *b;

/* x and z from store `one`, y from store `two`, and a multi-lock of the three.
 *  */
static dlock_lock *x, *y, *z, *all;

static dlock_client *looped(const char *uri)
{
	dlock_client *c = closed_at_end(open_store(uri, &options));

	outcomes_process(c);
	return c;
}

static void given_stores(const char *params_one, const char *params_two)
{
	char uri[80];

	snprintf(uri, sizeof(uri), "fake://one?%s", params_one);
	a = looped(uri);
	snprintf(uri, sizeof(uri), "fake://two?%s", params_two);
	b = looped(uri);
	one = fake_store("one");
	two = fake_store("two");
	x = unbound(a, "x");
	y = unbound(b, "y");
	z = unbound(a, "z");
	all = multi((dlock_lock *[]){ z, x, y }, 3);
}

static void given_all(const char *params)
{
	given_stores(params, params);
}

TestSuite(multi_async, .init = timed_fixture, .timeout = 60);

static struct outcome o, stuck;

#define BRIEF "ttl=60s&ask=50ms&close=30s&connect=30s"
#define LONG "ttl=60s&ask=30s&close=30s&connect=30s"

CASE(multi_async, of_one_lock_by_two_spellings_is_refused)
{
	dlock_client *c;

	given_all("ttl=5s");
	c = looped("fakeall://one");
	ask_async(&o, multi((dlock_lock *[]){ x, unbound(c, "x") }, 2), -1);
	over(&o, DLOCK_EINVAL,
	     "lock 'x' is a member twice: fakeall://one and fake://one?");
	cr_assert_eq(fake_held(one), 0);
}

CASE(multi_async, a_hold_of_another_thread_is_not_released)
{
	struct taker t = { .linger = 1 };
	dlock_lock *both;

	given_all("ttl=60s");
	both = multi((dlock_lock *[]){ y, mutex(a, "bound") }, 2);
	taker_start(&t, both, 0);
	EVENTUALLY(t.done);
	INVALID(dlock_release_start(t.hold, outcome_note, &o),
		"another thread");
	OK(dlock_check(t.hold));
	cr_assert_eq(calls_under_way(a) + calls_under_way(b), 0);
	cr_assert(outcome_pending(&o));
	OK(let_go(&t));
}

/* ---- A store does not answer --------------------------------------------- */

CASE(multi_async, that_waits_for_a_stuck_store_ends_in_time)
{
	static struct outcome stuck, o, cancelled;
	dlk_time begun;
	dlock_op op;

	given_all(BRIEF);
	stick(one, a, &stuck, FAKE_REFUSE);
	begun = dlk_now();
	ask_async(&o, all, 40);
	op = ask_async(&cancelled, all, -1);
	over(&o, DLOCK_EUNREACHABLE, "did not answer");
	OK(dlock_cancel_op(a, op));
	over(&cancelled, DLOCK_ECANCELED, "cancelled");
	cr_assert_lt(dlk_now(), late(begun + 2000 * DLK_MS));
	cr_assert(outcome_pending(&stuck));
	fake_open_gate(one);
	OK(dlock_release(granted(&stuck)));
}

/* The call asks behind the stuck call, of a client that is not closed. */
CASE(multi_async, ends_soon_at_a_stuck_store_when_a_client_is_closed)
{
	dlock_lock *both;
	dlk_time begun;

	given_all(BRIEF);
	both = multi((dlock_lock *[]){ x, y }, 2);
	stick(one, a, &stuck, FAKE_REFUSE);
	ask_async(&o, both, -1);
	begun = dlk_now();
	outcomes_leave(b);
	end_now(b);
	over(&o, DLOCK_ECANCELED, "cancelled");
	cr_assert_lt(dlk_now(), late(begun + 2000 * DLK_MS));
	cr_assert(outcome_pending(&stuck));
	fake_open_gate(one);
	OK(dlock_release(granted(&stuck)));
}

PEEK(int, pauses, !TAILQ_EMPTY(&c->asyncs.paused))

/* The call has met y busy, then x, and pauses before it waits for x.  Meanwhile
 * the async job of x's client is stuck. */
CASE(multi_async, that_pauses_at_a_stuck_store_is_cancelled_soon)
{
	dlock_lock *both;

	given_all(BRIEF);
	both = multi((dlock_lock *[]){ x, y }, 2);
	FAKE_SCRIPT(one, FAKE_ATTEMPT, 0);
	FAKE_SCRIPT(two, FAKE_ATTEMPT, .fault = FAKE_BUSY);
	FAKE_SCRIPT(two, FAKE_ATTEMPT, 0);
	FAKE_SCRIPT(one, FAKE_ATTEMPT, .gate = 1, .fault = FAKE_BUSY);
	FAKE_SCRIPT(one, FAKE_ATTEMPT, .gate = 1, .fault = FAKE_REFUSE);
	ask_async(&o, both, -1);
	EVENTUALLY(fake_count(one, FAKE_ATTEMPT) == 2);
	ask_async(&stuck, unbound(a, "stuck"), -1);
	fake_open_gate(one);
	EVENTUALLY(fake_count(one, FAKE_ATTEMPT) == 3);
	EVENTUALLY(pauses(a));
	dlock_cancel(both);
	over(&o, DLOCK_ECANCELED, "cancelled");
	cr_assert(outcome_pending(&stuck));
	fake_open_gate(one);
	OK(dlock_release(granted(&stuck)));
}

/* The call holds y while the async job is stuck. The release of y has little
 * time, and the request for z has time for the case. */
CASE(multi_async, that_gives_back_to_a_stuck_store_ends_in_time)
{
	dlk_time begun;

	given_stores(LONG, BRIEF);
	fake_occupy(one, DLK_LOCK, "z", 0);
	FAKE_SCRIPT(one, FAKE_ATTEMPT, 0);
	FAKE_SCRIPT(one, FAKE_ATTEMPT, .gate = 1);
	ask_async(&o, all, 0);
	EVENTUALLY(fake_count(one, FAKE_ATTEMPT) == 2);
	cr_assert_eq(fake_held(two), 1);
	stick(two, b, &stuck, FAKE_REFUSE);
	begun = dlk_now();
	fake_open_gate(one);
	over(&o, DLOCK_EBUSY, "'z'");
	cr_assert_lt(dlk_now(), late(begun + 2000 * DLK_MS));
	cr_assert(outcome_pending(&stuck));
	EVENTUALLY(fake_held(two) == 0);
	cr_assert_eq(stats(b).holds, 0);
	fake_open_gate(two);
	OK(dlock_release(granted(&stuck)));
}

/* ---- A cancel beside the begin of a step --------------------------------- */

static struct {
	pthread_t asker, canceller;
	dlock_op op;
	atomic_int is_due, is_over;
} cancel;

static dlk_time (*real_clock)(void);

static void *cancels(void *arg)
{
	OK(dlock_cancel_op(a, cancel.op));
	cancel.is_over = 1;
	return arg;
}

static int is_locked(pthread_mutex_t *mu)
{
	if (pthread_mutex_trylock(mu) != 0)
		return 1;
	pthread_mutex_unlock(mu);
	return 0;
}

/* The client of the step looks whether a kept claim is of use, which has too
 * little time: the call has looked for a cancel before.  The cancel ends here,
 * or waits for the mutex. */
static dlk_time cancelling_clock(void)
{
	if (!cancel.is_due || cancel.op == 0 ||
	    !pthread_equal(pthread_self(), cancel.asker) || !is_locked(&b->mu))
		return real_clock();
	cancel.is_due = 0;
	cancel.canceller = thread_begin(cancels, NULL);
	for (int i = 0; i < 20 && !cancel.is_over; i++)
		nap_ms(1);
	return real_clock() + 50000 * DLK_MS;
}

CASE(multi_async, hears_a_cancel_beside_the_begin_of_a_step)
{
	dlock_lock *kept;

	real_clock = dlki_clock;
	dlki_clock = cancelling_clock;
	a = looped("fakewant://one?" BRIEF);
	b = looped("fakewant://two?keep=30s&" BRIEF);
	kept = unbound(b, "a");
	OK(dlock_release(take(kept)));
	cr_assert_eq(stats(b).kept, 1);
	stick(fake_store("two"), b, &stuck, FAKE_WORK);
	all = multi((dlock_lock *[]){ unbound(a, "m"), kept }, 2);
	cancel.asker = pthread_self();
	cancel.is_due = 1;
	OK(dlock_acquire_start(all, -1, outcome_note, &o, &cancel.op));
	cr_assert_not(cancel.is_due);
	over(&o, DLOCK_ECANCELED, "cancelled");
	cr_assert(outcome_pending(&stuck));
	pthread_join(cancel.canceller, NULL);
	fake_open_gate(fake_store("two"));
	OK(dlock_release(granted(&stuck)));
}

/* ---- Callbacks ----------------------------------------------------------- */

/* Members of both clients are lost before the callback. */
CASE(multi_async, events_come_after_the_callback_of_the_grant)
{
	events_follow(&o);
	given_all("ttl=60s");
	ask_async(&o, all, -1);
	EVENTUALLY(stats(a).holds + stats(b).holds == 3);
	fake_lose(one, fake_last(one, FAKE_ATTEMPT).id);
	fake_lose(two, fake_last(two, FAKE_ATTEMPT).id);
	EVENTUALLY(stats(a).lost + stats(b).lost == 2);
	ALL_ALONG(20, events == 0);
	granted(&o);
	EVENTUALLY(events == 2);
	cr_assert_eq(early, 0);
	cr_assert_eq(dlock_release(o.hold), DLOCK_ELOST);
}

static void gives(const struct dlock_result *r, void *arg)
{
	OK(dlock_release(r->hold));
	dlock_lock_free(all);
	outcome_note(r, arg);
}

CASE(multi_async, a_callback_may_release_and_free_it)
{
	events_follow(&o);
	given_all("ttl=60s");
	all = NULL;
	OK(dlock_multi_new(&all, (dlock_lock *[]){ z, x, y }, 3));
	OK(dlock_acquire_start(all, -1, gives, &o, NULL));
	OK(outcome_of(&o));
	cr_assert_eq(fake_held(one) + fake_held(two), 0);
	cr_assert_eq(dlock_pending(a), 0);
}
