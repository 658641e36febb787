/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex has a single holder, which may acquire again. */
#include <pthread.h>
#include <stdio.h>

#include "conform/cases.h"
#include "conform/worker.h"

void case_mutex_try(struct conform *t)
{
	use_mutex(t);
	is_free(t->lock);
	EACH_WAY(t, p)
	{
		dlock_hold *h = take(t->lock);

		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		give(h);
		ASK_OK(p, ACQUIRE, at_once_ms());
		refused(t->lock);
		CHECK_TEXT(face_errmsg(), t->name);
		ASK_OK(p, RELEASE, 0);
		is_free(t->lock);
	}
}

enum { TRIES = 8, ROUNDS = 10 };

struct at_once {
	pthread_t thread;
	pthread_barrier_t *all;
	dlock_lock *lock;
	dlock_hold *hold;
	int rc;
};

/* No thread releases before all threads have an answer. */
static void *try_at_once(void *arg)
{
	struct at_once *a = arg;

	pthread_barrier_wait(a->all);
	a->rc = acquire(a->lock, 0, &a->hold);
	pthread_barrier_wait(a->all);
	if (a->rc == DLOCK_OK)
		a->rc = release(a->hold);
	return NULL;
}

/* A try of a new lock finds the lock busy only because another try has the
 * lock. */
void case_mutex_tries_at_once(struct conform *t)
{
	dlock_client *clients[TRIES];
	pthread_barrier_t all;

	for (int i = 0; i < TRIES; i++)
		clients[i] = another_client(t, "ask=5s", NULL);
	pthread_barrier_init(&all, NULL, TRIES);
	for (int round = 0; round < ROUNDS; round++) {
		struct at_once a[TRIES] = { 0 };
		int granted = 0;
		char name[32];

		snprintf(name, sizeof(name), "new-%d", round);
		for (int i = 0; i < TRIES; i++) {
			a[i].all = &all;
			a[i].lock = any_lock(t, clients[i], MUTEX, 0, name);
			CHECK(pthread_create(&a[i].thread, NULL, try_at_once,
					     &a[i]) == 0);
		}
		for (int i = 0; i < TRIES; i++) {
			pthread_join(a[i].thread, NULL);
			granted += a[i].rc == DLOCK_OK;
			if (a[i].rc != DLOCK_OK)
				CHECK_INT(a[i].rc, ==, DLOCK_EBUSY);
		}
		CHECK_INT(granted, ==, 1);
	}
	pthread_barrier_destroy(&all);
}

void case_mutex_reentry(struct conform *t)
{
	use_mutex(t);
	EACH_WAY(t, p)
	{
		dlock_hold *h = take(t->lock);
		uint64_t token = dlock_token(h);
		struct reply next;

		for (int i = 0; i < 3; i++)
			CHECK(take(t->lock) == h);
		CHECK(dlock_token(h) == token);
		for (int i = 0; i < 3; i++) {
			give(h);
			CHECK_OK(dlock_check(h));
			CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		}
		give(h);
		next = ask(p, ACQUIRE, patience_ms());
		CHECK_INT(next.rc, ==, DLOCK_OK);
		CHECK(next.token > token || token == 0);
	}
}

void case_mutex_handle_outlived(struct conform *t)
{
	dlock_lock *gone = NULL;
	dlock_hold *h;

	use_mutex(t);
	CHECK_OK(dlock_mutex_new(&gone, t->client, t->name));
	face_knows(gone, t->client, NULL);
	h = take(gone);
	dlock_lock_free(gone);
	CHECK_OK(dlock_check(h));
	EACH_WAY(t, p)
	CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	give(h);
	is_free(t->lock);
}

static void *release_foreign(void *hold)
{
	CHECK_RC(release(hold), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "thread");
	CHECK_OK(dlock_check(hold));
	return NULL;
}

void case_mutex_foreign_release(struct conform *t)
{
	pthread_t thread;
	dlock_hold *h;

	use_mutex(t);
	h = take(t->lock);
	CHECK_INT(pthread_create(&thread, NULL, release_foreign, h), ==, 0);
	pthread_join(thread, NULL);
	EACH_WAY(t, p)
	CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	give(h);
	is_free(t->lock);
}

static void *release_it(void *h)
{
	give(h);
	return NULL;
}

/* Holds of an unbound handle belong to no thread, and exclude holds that do. */
void case_mutex_unbound(struct conform *t)
{
	dlock_lock *unbound;

	use_mutex(t);
	unbound = handle(t, t->client);
	CHECK_OK(dlock_lock_unbind(unbound));
	EACH_WAY(t, p)
	{
		dlock_hold *h = take(unbound);
		pthread_t thread;

		refused(unbound);
		refused(t->lock);
		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		CHECK(pthread_create(&thread, NULL, release_it, h) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
		h = take(t->lock);
		refused(unbound);
		give(h);
		ASK_OK(p, ACQUIRE, patience_ms());
		refused(unbound);
		ASK_OK(p, RELEASE, 0);
		is_free(unbound);
	}
}
