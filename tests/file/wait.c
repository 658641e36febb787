/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: few polls, and who is woken. */
#include "support.h"
#include "support/ticket.h"

#include <criterion/criterion.h>
#include <errno.h>

/* A close of an inotify descriptor is slow. */
CASE(file_wait, without_watches_asks_for_a_descriptor_rarely)
{
	dlock_client *a = store_open(store_dir(), NULL);
	struct ticket held;
	int64_t begin;

	fail_watch = ENOSPC;
	begin = now_ms();
	ticket_take(&held, a);
	for (int i = 0; i < 20; i++)
		CHECK_INT(ticket_watch(&held), ==, DLOCK_ENOTSUP);
	CHECK_INT(inotify_inits, <=, 1 + (now_ms() - begin) / 1000);
	ticket_give(&held);
}

/* Return how long a waiter of `b` waits after the release. */
static int64_t handed_over(dlock_lock *la, dlock_client *b, dlock_lock *lb)
{
	dlock_hold *h = take(la, FOREVER);
	struct taker t = { 0 };
	int64_t begin;

	taker_queue(&t, b, lb, FOREVER);
	begin = now_ms();
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(let_go(&t));
	return t.done_ms - begin;
}

/* Nothing tells the waiter, which polls. */
static void hands_over(const char *query)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, query), *b = store_open(dir, query);
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");

	CHECK_WITHIN(handed_over(la, b, lb), 500 * slowness());
}

CASE(file_wait, without_inotify)
{
	fail_inotify = EMFILE;
	hands_over(NULL);
}

CASE(file_wait, without_watches)
{
	fail_watch = ENOSPC;
	hands_over(NULL);
}

/* On a network file system, inotify is silent about releases of other hosts. */
CASE(file_wait, for_a_client_of_another_host)
{
	deaf_watches = 1;
	hands_over("remote=on");
}

/* ---- Many waiters -------------------------------------------------------- */

static void given_waiting(struct ticket *t, dlock_client *c)
{
	ticket_make(t, c, DLK_EXCLUSIVE);
	CHECK_INT(ticket_ask(t), ==, DLK_BUSY);
}

/* Another client's release wakes the first writer. If that writer leaves
 * without an attempt, the next writer is woken. */
CASE(file_wait, of_many_writers_one_is_woken)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	dlock_hold *h = take(mutex(a, "x"), 0);
	struct ticket t[3];

	for (int i = 0; i < 3; i++)
		given_waiting(&t[i], b);
	CHECK_INT(t[0].woken + t[1].woken + t[2].woken, ==, 0);
	CHECK_OK(dlock_release(h));
	EVENTUALLY(t[0].woken == 1);
	ticket_give(&t[1]);
	CHECK_INT(t[1].woken + t[2].woken, ==, 0);
	ticket_give(&t[0]);
	CHECK_INT(t[2].woken, ==, 1);
	CHECK_INT(ticket_ask(&t[2]), ==, DLK_GRANTED);
	ticket_give(&t[2]);
	CHECK_INT(t[0].woken + t[1].woken + t[2].woken, ==, 2);
}

/* The client announces no waiter to itself. */
CASE(file_wait, behind_a_writer_of_its_client)
{
	dlock_client *c = store_open(store_dir(), NULL);
	struct ticket held, t;

	ticket_take(&held, c);
	ticket_queue(&t, c, DLK_SHARED);
	ticket_give(&held);
	CHECK_INT(t.woken, ==, 1);
	ticket_give(&t);
}

static struct ticket held;

static void give_held(void)
{
	before_watch = NULL;
	ticket_give(&held);
}

/* The release comes between the attempt and the announcement. The holder hears
 * of no announcement, so the waiter hears of no release. */
CASE(file_wait, behind_a_release_has_a_second_attempt)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	struct ticket t;

	ticket_take(&t, b);
	ticket_give(&t);
	fail_watch = ENOSPC;
	ticket_take(&held, a);
	fail_watch = 0;
	before_watch = give_held;
	CHECK_INT(ticket_ask(&t), ==, DLK_GRANTED);
	CHECK(!before_watch);
	ticket_give(&t);
}

/* The pauses between polls double, up to 128 ms. */
static int polls_rarely(dlock_client *c)
{
	uint64_t polls = stats(c).polls;

	nap_ms(100);
	return stats(c).polls == polls;
}

/* Release a permit once the waiter of `b` polls rarely, and return how long the
 * waiter still waits. */
static int64_t one_of_many(dlock_hold **h, dlock_client *b, dlock_lock *lb)
{
	struct taker t = { 0 };
	int64_t begun;

	taker_start(&t, lb, FOREVER);
	EVENTUALLY(stats(b).waiters == 1);
	EVENTUALLY(polls_rarely(b));
	begun = now_ms();
	CHECK_OK(dlock_release(*h));
	CHECK_OK(taker_join(&t));
	CHECK_OK(t.release_rc);
	*h = NULL;
	return now_ms() - begun;
}

static int64_t slowest_of_eight(dlock_hold *h[], dlock_lock *la,
				dlock_client *b, dlock_lock *lb)
{
	int64_t most = 0;

	for (int i = 0; i < 8; i++) {
		dlock_hold **one = &h[i * 71];
		int64_t took = one_of_many(one, b, lb);

		*one = take(la, FOREVER);
		most = took > most ? took : most;
	}
	return most;
}

/* A waiter for a permit does not poll, even if an attempt cannot try all
 * permits. The waiter gets a released permit at once. */
CASE(file_wait, waiting_for_one_of_many_permits_does_not_poll)
{
	enum { PERMITS = 600 };
	dlock_hold *h[PERMITS], *none;
	dlock_client *a, *b;
	dlock_lock *la, *lb;
	char dir[PATH_MAX];

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = semaphore(a, "x", PERMITS);
	lb = semaphore(b, "x", PERMITS);
	for (int i = 0; i < PERMITS; i++)
		h[i] = take(la, FOREVER);
	CHECK_RC(dlock_acquire(lb, 1000, &none), DLOCK_EBUSY);
	CHECK_INT(stats(b).polls, <, 1000 / 50);
	CHECK_WITHIN(slowest_of_eight(h, la, b, lb), 50 * slowness());
	for (int i = 0; i < PERMITS; i++)
		CHECK_OK(dlock_release(h[i]));
}
