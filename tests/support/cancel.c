/* SPDX-License-Identifier: Apache-2.0 */
#include "support/cancel.h"

#include <pthread.h>

#include "support/hold.h"

static void *wait_for_it(void *lock)
{
	dlock_hold *h = NULL;

	CHECK_RC(dlock_acquire(lock, -1, &h), DLOCK_ECANCELED);
	return NULL;
}

static int64_t cancel(dlock_lock *l, pthread_t thread)
{
	int64_t begun = now_ms();

	dlock_cancel(l);
	pthread_join(thread, NULL);
	return now_ms() - begun;
}

int64_t cancel_wait_ms(dlock_client *c, dlock_lock *l)
{
	uint64_t asked = stats(c).asked;
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, wait_for_it, l), ==, 0);
	EVENTUALLY(stats(c).asked > asked);
	return cancel(l, thread);
}

int64_t cancel_parked_ms(dlock_client *c, dlock_lock *l,
			 void (*freeze)(void *arg), void *arg)
{
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, wait_for_it, l), ==, 0);
	EVENTUALLY(stats(c).waiters == 1);
	freeze(arg);
	return cancel(l, thread);
}
