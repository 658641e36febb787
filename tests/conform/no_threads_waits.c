/* SPDX-License-Identifier: Apache-2.0 */
/* Clients without threads: threads that wait or process do the work. */
#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "support/outcome.h"

enum { FEW = 5 };

/* ---- Waits --------------------------------------------------------------- */

static void *wait_in_vain(void *lock)
{
	dlock_hold *none;

	CHECK_RC(dlock_acquire(lock, patience_ms(), &none), DLOCK_ECANCELED);
	return NULL;
}

static void *wait_on(void *lock)
{
	dlock_hold *h;

	CHECK_OK(dlock_acquire(lock, patience_ms(), &h));
	CHECK_OK(dlock_release(h));
	return NULL;
}

/* Two threads wait, and no thread processes: the first does the work of both,
 * and then the second. */
void case_no_threads_two_wait(struct conform *t)
{
	dlock_client *c;
	pthread_t first, second;
	dlock_lock *l;
	dlock_hold *h;

	use_mutex(t);
	c = no_threads_client(t, NULL);
	l = unbound(t, c);
	h = take(t->lock);
	CHECK_INT(pthread_create(&first, NULL, wait_in_vain, l), ==, 0);
	await_waiters(t, 1);
	CHECK_INT(pthread_create(&second, NULL, wait_on, unbound(t, c)), ==, 0);
	await_waiters(t, 2);
	dlock_cancel(l);
	pthread_join(first, NULL);
	give(h);
	pthread_join(second, NULL);
	is_free(t->lock);
}

/* A program that does not poll may go by the result alone, but for the answers
 * of a server. */
void case_no_threads_result(struct conform *t)
{
	dlock_client *c = no_threads_client(t, NULL);
	struct outcome got[FEW] = { 0 };

	for (int i = 0; i < FEW; i++) {
		char name[32];
		dlock_lock *l;

		snprintf(name, sizeof(name), "conform/result-%d", i);
		l = any_lock(t, c, MUTEX, 0, name);
		if (!face_is_async())
			CHECK_OK(dlock_lock_unbind(l));
		ask_async(&got[i], l, -1);
	}
	while (dlock_pending(c) > 0) {
		if (dlock_process(c, 0) > 0 || dlock_pending(c) == 0)
			continue;
		CHECK(t->caps & DLOCK_CAP_REMOTE);
		nap_ms(1);
	}
	for (int i = 0; i < FEW; i++) {
		CHECK_OK(got[i].rc);
		CHECK_OK(dlock_release(got[i].hold));
	}
}

/* ---- A multi-lock of two clients ----------------------------------------- */

enum { MEMBERS = 2 };

static dlock_lock *member(struct conform *t, dlock_client *c, int i)
{
	static const char *const names[MEMBERS] = { "conform/0", "conform/1" };
	dlock_lock *l = any_lock(t, c, MUTEX, 0, names[i]);

	CHECK_OK(dlock_lock_unbind(l));
	return l;
}

/* The member of one client is busy, and a client is closed by the only thread;
 * or the client has threads, and the close begins ahead. */
static void closed_by_its_thread(struct conform *t, int busy, int closed,
				 int starts)
{
	dlock_hold *h = take(member(t, t->client, busy));
	struct outcome got = { 0 };
	dlock_client *c[MEMBERS];
	dlock_lock *l[MEMBERS];

	for (int i = 0; i < MEMBERS; i++) {
		c[i] = starts && i == closed ? another_client(t, NULL, NULL) :
					       no_threads_client(t, NULL);
		l[i] = member(t, c[i], i);
	}
	ask_async(&got, multi(t, l, MEMBERS), -1);
	while (stats_of(c[busy]).waiters == 0)
		for (int i = 0; i < MEMBERS; i++)
			CHECK_INT(dlock_process(c[i], 0), >=, 0);
	if (starts)
		CHECK_OK(dlock_close_start(c[closed], NULL, NULL));
	close_client(t, c[closed]);
	if (closed == 0) /* whose operation it is */
		CHECK_INT(atomic_load(&got.calls), ==, 1);
	close_client(t, c[1 - closed]);
	CHECK_INT(atomic_load(&got.calls), ==, 1);
	CHECK_RC(got.rc, DLOCK_ECANCELED);
	give(h);
}

void case_no_threads_multi_closed(struct conform *t)
{
	for (int i = 0; i < MEMBERS * MEMBERS; i++) {
		closed_by_its_thread(t, i / MEMBERS, i % MEMBERS, 0);
		closed_by_its_thread(t, i / MEMBERS, i % MEMBERS, 1);
	}
}

/* The release has a part of each client. */
void case_no_threads_multi_released(struct conform *t)
{
	struct outcome given = { 0 };
	dlock_client *c[MEMBERS];
	dlock_lock *l[MEMBERS];

	for (int i = 0; i < MEMBERS; i++) {
		c[i] = no_threads_client(t, NULL);
		l[i] = member(t, c[i], i);
	}
	give_async(&given, take(multi(t, l, MEMBERS)));
	close_client(t, c[0]);
	CHECK_INT(atomic_load(&given.calls), ==, 1);
	CHECK_OK(given.rc);
	close_client(t, c[1]);
}
