/* SPDX-License-Identifier: Apache-2.0 */
/* Clients without threads: waiting threads and loops do the work. */
#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "support/outcome.h"

enum { FEW = 5, TURNS = 30 };

/* ---- Waits --------------------------------------------------------------- */

/* Another client releases, and another thread of the program cancels. */
void case_no_threads_waits(struct conform *t)
{
	struct worker *p;
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	use_mutex(t);
	c = no_threads_client(t, NULL);
	l = handle(t, c);
	p = join(t, OTHER_CLIENT);
	CHECK_OK(ask(p, ACQUIRE, -1).rc);
	CHECK_RC(dlock_acquire(l, 20, &h), DLOCK_EBUSY);
	tell(p, RELEASE, 0);
	CHECK_OK(dlock_acquire(l, patience_ms(), &h));
	HEAR_OK(p);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	CHECK_OK(dlock_release(h));
	HEAR_OK(p);
	CHECK_OK(ask(p, RELEASE, 0).rc);
}

struct cancelled {
	dlock_client *client;
	dlock_lock *lock;
};

static void *cancel(void *arg)
{
	struct cancelled *of = arg;
	struct dlock_stats stats = { .size = sizeof(stats) };

	do
		CHECK_OK(dlock_get_stats(of->client, &stats));
	while (stats.waiters == 0);
	dlock_cancel(of->lock);
	return NULL;
}

void case_no_threads_cancelled(struct conform *t)
{
	struct cancelled of;
	pthread_t thread;
	dlock_hold *h, *none;

	use_mutex(t);
	h = take(t->lock);
	of.client = no_threads_client(t, NULL);
	of.lock = handle(t, of.client);
	CHECK_INT(pthread_create(&thread, NULL, cancel, &of), ==, 0);
	CHECK_RC(dlock_acquire(of.lock, -1, &none), DLOCK_ECANCELED);
	pthread_join(thread, NULL);
	give(h);
	is_free(t->lock);
}

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

/* ---- A loop -------------------------------------------------------------- */

struct turns {
	int left; /* of both clients */
	struct turn {
		struct turns *all;
		dlock_lock *lock;
	} of[2];
};

static void turn_begin(struct turn *turn);

static void turn_ended(const struct dlock_result *r, void *arg)
{
	struct turn *turn = arg;

	CHECK_OK(r->code);
	if (--turn->all->left > 0)
		turn_begin(turn);
}

static void turn_granted(const struct dlock_result *r, void *arg)
{
	CHECK_OK(r->code);
	CHECK_OK(dlock_release_start(r->hold, turn_ended, arg));
}

static void turn_begin(struct turn *turn)
{
	CHECK_OK(dlock_acquire_start(turn->lock, -1, turn_granted, turn, NULL));
}

/* A program that does not poll may go by the result alone. */
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
	while (dlock_process(c, 0) > 0)
		continue;
	CHECK_INT(dlock_pending(c), ==, 0);
	for (int i = 0; i < FEW; i++) {
		CHECK_OK(got[i].rc);
		CHECK_OK(dlock_release(got[i].hold));
	}
}

/* Two clients want the same lock, in a loop by edges. */
void case_no_threads_loop(struct conform *t)
{
	struct turns turns = { .left = TURNS };
	dlock_client *clients[2];
	int set = epoll_create1(EPOLL_CLOEXEC);

	CHECK_INT(set, >=, 0);
	use_mutex(t);
	for (int i = 0; i < 2; i++) {
		struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

		clients[i] = no_threads_client(t, NULL);
		ev.data.ptr = clients[i];
		CHECK_INT(epoll_ctl(set, EPOLL_CTL_ADD,
				    dlock_client_fd(clients[i]), &ev),
			  ==, 0);
		turns.of[i] = (struct turn){ &turns, unbound(t, clients[i]) };
		turn_begin(&turns.of[i]);
	}
	while (turns.left > 0 || dlock_pending(clients[0]) > 0 ||
	       dlock_pending(clients[1]) > 0) {
		struct epoll_event ev;
		int rc = 1;

		CHECK_INT(epoll_wait(set, &ev, 1, (int)patience_ms()), ==, 1);
		while (rc > 0)
			rc = dlock_process(ev.data.ptr, 0);
		CHECK_INT(rc, ==, 0);
	}
	close(set);
	is_free(t->lock);
}
