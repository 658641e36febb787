/* SPDX-License-Identifier: Apache-2.0 */
/* An acquire and a release in another thread. */
#ifndef DLOCK_TESTS_TAKER_H
#define DLOCK_TESTS_TAKER_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdatomic.h>

struct taker {
	/* Set before the start, or 0. */
	int shared;             /* the read side */
	int keep;               /* the thread ends without a release */
	atomic_int linger;      /* the release waits until this is 0 */

	pthread_t thread;
	dlock_lock *lock;
	int64_t timeout_ms;
	atomic_int done;        /* the acquire has ended: */
	int rc;
	dlock_hold *hold;       /* or NULL */
	uint64_t token;
	int64_t remaining_ms;   /* at the grant */
	int64_t done_ms;        /* now_ms() then */
	int release_rc;
};

void taker_start(struct taker *t, dlock_lock *lock, int64_t timeout_ms);

/* Starts a taker that lingers; returns when the taker waits in `c` or is done,
 * so takers queue in the order of these calls. */
void taker_queue(struct taker *t, dlock_client *c, dlock_lock *lock,
		 int64_t timeout_ms);

int taker_join(struct taker *t); /* returns the acquire's code */
int let_go(struct taker *t);     /* has the taker release, and joins it */

/* A release in another thread: not of a mutex. */
struct releaser {
	pthread_t thread;
	dlock_hold *hold;
	int rc;
	atomic_int done;
};

void releaser_start(struct releaser *r, dlock_hold *hold);
int releaser_join(struct releaser *r); /* returns the release's code */

#endif
