/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls: how they end, and what is told of them. */
#include "core/fixture.h"

#include <dlock/async.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/outcome.h"

TestSuite(async, .init = timed_fixture, .timeout = 60);

/* A call that is left is told of when the client closes, behind the case: all
 * outcomes are static. */
static void over(struct outcome *o, int code, const char *text)
{
	cr_assert_eq(outcome_of(o), code, "%s: %s", dlock_errname(o->rc),
		     o->text);
	cr_assert(strstr(o->text, text) != NULL, "'%s' does not say '%s'",
		  o->text, text);
	cr_assert_null(o->hold);
}

static void given_own_loop(const char *uri)
{
	if (options.size == 0)
		options = (dlock_options)DLOCK_OPTIONS_INIT;
	options.own_loop = 1;
	given_mutex(uri);
}

static dlock_hold *granted(struct outcome *o)
{
	cr_assert_eq(outcome_of(o), DLOCK_OK, "%s", o->text);
	cr_assert_not_null(o->hold);
	return o->hold;
}

CASE(async, bad_arguments_are_refused)
{
	dlock_lock *many;
	dlock_async *r = NULL;
	static struct outcome o;

	given_mutex("fake:");
	REFUSED(dlock_acquire_async(NULL, 0, outcome_note, &o, &r),
		DLOCK_EINVAL, "lock is NULL");
	REFUSED(dlock_acquire_async(lock, 0, NULL, &o, &r), DLOCK_EINVAL,
		"done is NULL");
	REFUSED(dlock_acquire_shared_async(lock, 0, outcome_note, &o, &r),
		DLOCK_EINVAL, "read side");
	REFUSED(dlock_release_async(NULL, NULL, NULL), DLOCK_EINVAL,
		"hold is NULL");
	OK(dlock_multi_new(&many, &lock, 1));
	REFUSED(dlock_acquire_async(many, 0, outcome_note, &o, &r),
		DLOCK_ENOTSUP, "multi-lock");
	OK(dlock_acquire(many, 0, &hold));
	REFUSED(dlock_release_async(hold, NULL, NULL), DLOCK_ENOTSUP,
		"multi-lock");
	OK(dlock_release(hold));
	dlock_lock_free(many);
	REFUSED(dlock_fd(client), DLOCK_EINVAL, "own_loop");
	REFUSED(dlock_fd(NULL), DLOCK_EINVAL, "client is NULL");
	REFUSED(dlock_dispatch(client), DLOCK_EINVAL, "own_loop");
	dlock_async_cancel(NULL);
	dlock_async_free(NULL);
	cr_assert_null(r);
	cr_assert(outcome_pending(&o));
}

CASE(async, a_hold_of_another_thread_is_not_released)
{
	struct taker t = { .keep = 1 };
	static struct outcome o;

	given_mutex("fake:");
	taker_start(&t, lock, 0);
	OK(taker_join(&t));
	REFUSED(dlock_release_async(t.hold, outcome_note, &o), DLOCK_EINVAL,
		"another thread");
	OK(dlock_check(t.hold));
	cr_assert(outcome_pending(&o));
}

CASE(async, a_hold_of_this_thread_is_released)
{
	static struct outcome o;

	given_hold("fake:");
	give_async(&o, hold);
	OK(outcome_of(&o));
	cr_assert_eq(fake_held(fake), 0);
	OK(dlock_release_async(take(lock), NULL, NULL));
	EVENTUALLY(fake_held(fake) == 0);
}

CASE(async, a_release_says_what_the_store_said)
{
	static struct outcome o;

	given_hold("fake:?ttl=60s");
	lose_last();
	EVENTUALLY(stats(client).lost == 1);
	give_async(&o, hold);
	over(&o, DLOCK_ELOST, "was lost");
}

/* ---- The store does not answer ------------------------------------------- */

/* The first call is in the store for as long as that takes. */
static void given_a_stuck_store(struct outcome *first)
{
	size_t before = fake_count(fake, FAKE_ATTEMPT);

	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .gate = 1, .fault = FAKE_REFUSE });
	ask_async(first, mutex(client, "stuck"), -1);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) > before);
}

CASE(async, that_wait_for_a_stuck_store_end_in_time)
{
	static struct outcome first, o[3];
	dlk_time begun, took;

	given_mutex("fake:?ask=50ms&close=30s&connect=30s");
	given_a_stuck_store(&first);
	begun = dlk_now();
	for (int i = 0; i < 3; i++)
		ask_async(&o[i], lock, i * 40);
	for (int i = 0; i < 3; i++)
		over(&o[i], DLOCK_EUNREACHABLE, "did not answer");
	took = dlk_now() - begun;
	cr_assert_lt(took, late(2000 * DLK_MS), "%lld ms",
		     (long long)(took / DLK_MS));
	cr_assert(outcome_pending(&first));
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 1);
	fake_open_gate(fake);
	close_client(); /* ends the first before its lock is freed */
}

CASE(async, that_are_cancelled_at_a_stuck_store_end_soon)
{
	static struct outcome first, one, other;
	dlock_async *r;

	given_mutex("fake:?ask=50ms&close=30s&connect=30s");
	given_a_stuck_store(&first);
	r = begin_async(&one, lock, -1);
	ask_async(&other, lock, -1);
	dlock_async_cancel(r);
	dlock_async_free(r);
	over(&one, DLOCK_ECANCELED, "cancelled");
	cr_assert(outcome_pending(&first) && outcome_pending(&other));
	fake_open_gate(fake);
	OK(dlock_release(granted(&other)));
	close_client();
}

/* A waiter whose next look is due while the store is stuck. */
CASE(async, that_were_refused_say_so_at_a_stuck_store)
{
	static struct outcome first, o;

	given_mutex("fake:?ask=50ms&close=30s&connect=30s");
	fake_occupy(fake, DLK_LOCK, "a", 0);
	ask_async(&o, lock, 300);
	EVENTUALLY(stats(client).waiters == 1);
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .gate = 1, .fault = FAKE_REFUSE });
	ask_async(&first, mutex(client, "stuck"), -1);
	over(&o, DLOCK_EBUSY, "not at the deadline");
	cr_assert_eq(stats(client).waiters, 0);
	fake_open_gate(fake);
	close_client();
}

/* The store answers each, but all together take longer than a try has. */
CASE(async, that_come_too_late_to_the_store_ask_once)
{
	enum { N = 8 };
	static struct outcome before[N], try;
	char name[] = "b0";

	given_mutex("fake:?ask=200ms&close=30s&connect=30s");
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .delay_ms = 60, .times = N + 1 });
	for (int i = 0; i < N; i++) {
		name[1] = (char)('0' + i);
		ask_async(&before[i], mutex(client, name), -1);
	}
	ask_async(&try, lock, 0);
	OK(dlock_release(granted(&try)));
	for (int i = 0; i < N; i++)
		OK(dlock_release(granted(&before[i])));
}

CASE(async, a_closing_client_ends_them_at_a_stuck_store)
{
	static struct outcome first, o[20];

	given_mutex("fake:?ask=50ms&close=500ms&connect=30s");
	given_a_stuck_store(&first);
	for (int i = 0; i < 20; i++)
		ask_async(&o[i], lock, -1);
	close_client_within(3000);
	for (int i = 0; i < 20; i++) {
		cr_assert(!outcome_pending(&o[i]));
		over(&o[i], DLOCK_ECANCELED, "closed");
	}
	cr_assert(!outcome_pending(&first));
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 1);
}

/* ---- Callbacks ----------------------------------------------------------- */

static struct outcome *_Atomic expected; /* told of by the time of an event */
static atomic_int events, early;

static void on_event(dlock_hold *about, enum dlock_event event, const char *why,
		     void *arg)
{
	(void)about;
	(void)event;
	(void)why;
	(void)arg;
	early += outcome_pending(expected);
	events++;
}

/* The hold is lost before its callback could run. */
CASE(async, events_come_after_the_callback_of_the_grant)
{
	static struct outcome o;

	expected = &o;
	events_call(on_event);
	given_own_loop("fake:?ttl=60s");
	ask_async(&o, lock, -1);
	EVENTUALLY(stats(client).holds == 1);
	lose_last();
	EVENTUALLY(stats(client).lost == 1);
	cr_assert_eq(events, 0);
	OK(dlock_dispatch(client));
	EVENTUALLY(!outcome_pending(&o));
	OK(dlock_dispatch(client));
	cr_assert_eq(events, 1);
	cr_assert_eq(early, 0);
	cr_assert_eq(dlock_check(granted(&o)), DLOCK_ELOST);
	cr_assert_eq(dlock_release(o.hold), DLOCK_ELOST);
}

/* The release waits for a call that the store does not answer. */
CASE(async, a_hold_that_is_being_released_gets_no_events)
{
	static struct outcome first, o;

	expected = &o;
	events_call(on_event);
	given_hold("fake:?ttl=60s&ask=50ms&close=30s&connect=30s");
	given_a_stuck_store(&first);
	give_async(&o, hold);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, 0).id);
	EVENTUALLY(stats(client).lost == 1);
	fake_open_gate(fake);
	over(&o, DLOCK_ELOST, "was lost");
	OK(dlock_release(granted(&first)));
	cr_assert_eq(events, 0);
}

/* Its thread does not get it back meanwhile. */
CASE(async, a_hold_that_is_being_released_is_not_taken_again)
{
	static struct outcome first, o;
	dlock_hold *again;

	given_hold("fake:?ttl=60s&ask=50ms&close=30s&connect=30s");
	given_a_stuck_store(&first);
	give_async(&o, hold);
	cr_assert_eq(dlock_acquire(lock, 0, &again), DLOCK_EBUSY);
	cr_assert(outcome_pending(&o));
	fake_open_gate(fake);
	OK(outcome_of(&o));
	OK(dlock_release(take(lock)));
	OK(dlock_release(granted(&first)));
}

/* Both sides of a writer end, in either order. */
CASE(async, two_sides_are_released)
{
	for (int i = 0; i < 4; i++) {
		static struct outcome side[2][4];
		dlock_hold *h[2];

		if (i == 0)
			given_rwlock("fake:");
		OK(dlock_acquire(lock, 0, &h[0]));
		OK(dlock_acquire_shared(lock, 0, &h[1]));
		give_async(&side[0][i], h[i % 2]);
		if (i < 2)
			give_async(&side[1][i], h[!(i % 2)]);
		else
			OK(dlock_release(h[!(i % 2)]));
		OK(outcome_of(&side[0][i]));
		if (i < 2)
			OK(outcome_of(&side[1][i]));
		EVENTUALLY(fake_held(fake) == 0);
	}
}

struct chain {
	dlock_client *client;
	dlock_lock *lock;
	dlock_async *call;
	int left;
	int fault;
	atomic_int over;
};

/* Everything but dlock_close() may be called in a callback. */
static void next_link(int rc, dlock_hold *h, void *arg)
{
	struct chain *ch = arg;
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_async *r = ch->call;
	dlock_hold *none;
	int n = 0;

	ch->fault |= rc;
	ch->fault |= dlock_get_stats(ch->client, &st);
	ch->fault |= dlock_inspect(ch->lock, count_participant, &n, 1000);
	ch->fault |= dlock_acquire(ch->lock, 0, &none) != DLOCK_EBUSY;
	dlock_close(ch->client); /* does nothing */
	dlock_cancel(ch->lock);
	ch->call = NULL;
	dlock_async_cancel(r);
	dlock_async_free(r);
	if (--ch->left % 2)
		ch->fault |= dlock_release(h);
	else
		ch->fault |= dlock_release_async(h, NULL, NULL);
	if (ch->left > 0)
		ch->fault |= dlock_acquire_async(ch->lock, -1, next_link, ch,
						 NULL);
	else
		atomic_store(&ch->over, 1);
}

CASE(async, callbacks_may_call_everything)
{
	struct chain ch = { .left = 50 };

	keep_diary();
	given_mutex("fake:");
	ch.client = client;
	ch.lock = lock;
	OK(dlock_acquire_async(lock, -1, next_link, &ch, &ch.call));
	EVENTUALLY(atomic_load(&ch.over));
	cr_assert_eq(ch.fault, 0);
	EVENTUALLY(fake_held(fake) == 0);
	cr_assert(diary_says(&diary, "in an event callback does nothing"));
}

/* ---- An own loop --------------------------------------------------------- */

static void *dispatches(void *arg)
{
	atomic_int *go_on = arg;

	while (atomic_load(go_on))
		OK(dlock_dispatch(client));
	return NULL;
}

static atomic_int at_once, most_at_once, told;

static void count_at_once(int rc, dlock_hold *h, void *arg)
{
	int n = atomic_fetch_add(&at_once, 1) + 1;

	(void)arg;
	if (n > most_at_once)
		most_at_once = n;
	cr_assert_eq(rc, DLOCK_OK);
	OK(dlock_dispatch(client)); /* nothing, and no wait for itself */
	OK(dlock_release_async(h, NULL, NULL));
	at_once--;
	told++;
}

CASE(async, two_threads_dispatch_one_callback_at_a_time)
{
	enum { N = 400 };
	atomic_int go_on = 1;
	pthread_t t[2];

	given_own_loop("fake:");
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, dispatches, &go_on);
	for (int i = 0; i < N; i++)
		OK(dlock_acquire_async(lock, -1, count_at_once, NULL, NULL));
	EVENTUALLY(told == N);
	atomic_store(&go_on, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	cr_assert_eq(most_at_once, 1);
	EVENTUALLY(fake_held(fake) == 0);
}

static void asks_again(int rc, dlock_hold *h, void *arg)
{
	(void)arg;
	cr_assert_eq(rc, DLOCK_OK);
	OK(dlock_release(h));
	if (++told == 3)
		return;
	OK(dlock_acquire_async(lock, -1, asks_again, NULL, NULL));
	EVENTUALLY(stats(client).holds == 1);
}

/* A callback that asks anew does not keep the loop in one call. */
CASE(async, a_dispatch_calls_what_is_due_and_no_more)
{
	given_own_loop("fake:");
	OK(dlock_acquire_async(lock, -1, asks_again, NULL, NULL));
	EVENTUALLY(stats(client).holds == 1);
	for (int i = 1; i < 4; i++) {
		OK(dlock_dispatch(client));
		cr_assert_eq(told, i);
	}
}

CASE(async, clients_of_a_forked_child_say_so)
{
	static struct outcome o;
	int status = 0;
	pid_t pid;

	given_own_loop("fake:");
	fake_occupy(fake, DLK_LOCK, "a", 0);
	ask_async(&o, lock, -1);
	EVENTUALLY(stats(client).waiters == 1);
	pid = fork();
	if (pid == 0) {
		int ok = dlock_dispatch(client) == DLOCK_EFORKED &&
			 dlock_fd(client) == DLOCK_EFORKED &&
			 dlock_acquire_async(lock, 0, outcome_note, &o, NULL) ==
				 DLOCK_EFORKED;

		dlock_close(client);
		_exit(ok && outcome_pending(&o) ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	fake_vacate(fake, DLK_LOCK, "a");
	EVENTUALLY(stats(client).holds == 1);
	OK(dlock_dispatch(client));
	OK(dlock_release(granted(&o)));
}
