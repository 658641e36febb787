/* SPDX-License-Identifier: Apache-2.0 */
#include "support/taker.h"

#include "support/hold.h"
#include "support/wait.h"

static void *taker_main(void *arg)
{
	struct taker *t = arg;

	t->rc = t->shared ?
			dlock_acquire_shared(t->lock, t->timeout_ms, &t->hold) :
			dlock_acquire(t->lock, t->timeout_ms, &t->hold);
	t->done_ms = now_ms();
	if (t->rc == DLOCK_OK) {
		t->remaining_ms = dlock_remaining_ms(t->hold);
		t->token = dlock_token(t->hold);
	}
	t->done = 1;
	if (t->rc != DLOCK_OK || t->keep)
		return NULL;
	while (t->linger)
		nap_ms(1);
	t->release_rc = dlock_release(t->hold);
	return NULL;
}

void taker_start(struct taker *t, dlock_lock *lock, int64_t timeout_ms)
{
	t->lock = lock;
	t->timeout_ms = timeout_ms;
	t->done = 0;
	t->hold = NULL;
	CHECK(pthread_create(&t->thread, NULL, taker_main, t) == 0);
}

void taker_queue(struct taker *t, dlock_client *c, dlock_lock *lock,
		 int64_t timeout_ms)
{
	struct dlock_stats before = stats(c);

	t->linger = 1;
	taker_start(t, lock, timeout_ms);
	EVENTUALLY(t->done || (stats(c).waiters > before.waiters &&
			       stats(c).attempts > before.attempts));
}

int taker_join(struct taker *t)
{
	CHECK(pthread_join(t->thread, NULL) == 0);
	return t->rc;
}

int let_go(struct taker *t)
{
	t->linger = 0;
	return taker_join(t);
}

static void *releaser_main(void *arg)
{
	struct releaser *r = arg;

	r->rc = dlock_release(r->hold);
	r->done = 1;
	return NULL;
}

void releaser_start(struct releaser *r, dlock_hold *hold)
{
	*r = (struct releaser){ .hold = hold };
	CHECK(pthread_create(&r->thread, NULL, releaser_main, r) == 0);
}

int releaser_join(struct releaser *r)
{
	CHECK(pthread_join(r->thread, NULL) == 0);
	return r->rc;
}
