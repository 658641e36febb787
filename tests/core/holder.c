/* SPDX-License-Identifier: Apache-2.0 */
/* The message of a busy lock, which is a part of the interface. */
#include "core/fixture.h"

#include <stdio.h>

/* The message names the holder only while the ask time lasts. Without ask= the
 * store's quick answers make that time short. */
#define STORE "fake:?ask=5s"

TestSuite(holder, .init = fixture, .timeout = 30);

static dlock_client *other;
static dlock_lock *theirs;

/* Has another client, with a label, hold "a". */
static void given_other(const char *uri, const char *label)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.label = label;
	other = closed_at_end(open_store(uri, &o));
	theirs = mutex(other, "a");
	hold = take(theirs);
}

static void *try_as_another(void *text)
{
	dlock_hold *none = NULL;
	int rc = dlock_acquire(lock, 0, &none);

	snprintf(text, 240, "%s: %s", dlock_errname(rc), dlock_errmsg());
	return NULL;
}

/* Our own label would say less. */
CASE(holder, of_this_process_is_called_that)
{
	dlock_hold *none = NULL;
	char text[240] = "";
	pthread_t thread;

	given_hold(STORE);
	thread = thread_begin(try_as_another, text);
	pthread_join(thread, NULL);
	cr_assert(strstr(text, "held by another thread of this process"), "%s",
		  text);
	REFUSED(dlock_acquire(unbound(client, "a"), 0, &none), DLOCK_EBUSY,
		"lock 'a': held by this process itself");
	cr_assert_eq(fake_count(fake, FAKE_INSPECT), 0);
	OK(dlock_release(hold));
}

CASE(holder, of_several_is_named_first)
{
	dlock_hold *none = NULL, *h[3];
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.label = "the first";
	given_semaphore(STORE, 3);
	other = closed_at_end(open_store(STORE, &o));
	theirs = semaphore(other, "a", 3);
	for (int i = 0; i < 3; i++)
		h[i] = take(theirs);
	REFUSED(dlock_acquire(lock, 0, &none), DLOCK_EBUSY,
		"semaphore 'a': held by the first and 2 more");
	for (int i = 0; i < 3; i++)
		OK(dlock_release(h[i]));
}

CASE(holder, is_asked_for_ten_times_a_second_at_most)
{
	dlock_hold *none = NULL;
	dlk_time began;

	given_mutex(STORE);
	given_other(STORE, "x");
	began = dlk_now();
	for (int i = 0; i < 300; i++)
		cr_assert_eq(dlock_acquire(lock, 0, &none), DLOCK_EBUSY);
	cr_assert(strstr(dlock_errmsg(), "lock 'a': held by"));
	cr_assert_leq(fake_count(fake, FAKE_INSPECT),
		      (size_t)((dlk_now() - began) / (100 * DLK_MS) + 1));
	OK(dlock_release(hold));
}

CASE(holder, is_not_asked_for_when_the_lock_is_free)
{
	given_mutex(STORE);
	OK(dlock_acquire(lock, 0, &hold));
	OK(dlock_release(hold));
	OK(dlock_acquire(lock, 1000, &hold));
	OK(dlock_release(hold));
	cr_assert_eq(fake_count(fake, FAKE_INSPECT), 0);
}

static void held_by_others(void)
{
	dlock_hold *none = NULL;

	REFUSED(dlock_acquire(lock, 0, &none), DLOCK_EBUSY,
		"lock 'a': held by others until the deadline");
}

CASE(holder, that_is_not_known_is_others)
{
	/* The store has no inspect. */
	given_mutex("fakebare:");
	given_other("fakebare:", "x");
	held_by_others();
	OK(dlock_release(hold));
}

CASE(holder, that_is_gone_by_then_is_others)
{
	given_mutex(STORE);
	fake_once(fake, FAKE_ATTEMPT, FAKE_BUSY);
	held_by_others();
}

/* The question has the time of the request. */
CASE(holder, is_asked_for_within_the_deadline)
{
	dlk_time began;

	stall_watch();
	given_mutex("fake:?ask=250ms");
	given_other(STORE, "x");
	fake_always(fake, FAKE_INSPECT, FAKE_SILENT);
	began = dlk_now();
	held_by_others();
	cr_assert_leq(dlk_now(), late(began + 290 * DLK_MS));
	fake_clear(fake);
	OK(dlock_release(hold));
}

CASE(holder, of_a_long_name_is_named_all_the_same)
{
	char name[256], label[129];
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_hold *none = NULL;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(label, 'l', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	o.label = label;
	given_client(STORE);
	other = closed_at_end(open_store(STORE, &o));
	hold = take(mutex(other, name));
	REFUSED(dlock_acquire(mutex(client, name), 0, &none), DLOCK_EBUSY,
		"nnn': held by llllllllll");
	OK(dlock_release(hold));
}
