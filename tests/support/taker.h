/* SPDX-License-Identifier: Apache-2.0 */
/* An acquire in a thread of its own, and a release. */
#ifndef DLOCK_TESTS_TAKER_H
#define DLOCK_TESTS_TAKER_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdatomic.h>

struct taker {
	/* Set before the start, or 0. */
	int shared;             /* the read side */
	int keep;               /* it ends without a release */
	atomic_int linger;      /* it releases when this is 0 again */

	pthread_t thread;
	dlock_lock *lock;
	int64_t timeout_ms;
	atomic_int done;        /* the acquire is: */
	int rc;
	dlock_hold *hold;       /* NULL: none */
	uint64_t token;
	int64_t remaining_ms;   /* at the grant */
	int64_t done_ms;        /* now_ms() then */
	int release_rc;
};

void taker_start(struct taker *t, dlock_lock *lock, int64_t timeout_ms);

/* The same, which lingers; returns when it waits in `c` or is done, so that
 * takers queue in the order of these calls. */
void taker_queue(struct taker *t, dlock_client *c, dlock_lock *lock,
		 int64_t timeout_ms);

int taker_join(struct taker *t); /* the acquire's answer */
int let_go(struct taker *t);     /* let it release, and join it; likewise */

/* A release in a thread of its own: not of a mutex. */
struct releaser {
	pthread_t thread;
	dlock_hold *hold;
	int rc;
	atomic_int done;
};

void releaser_start(struct releaser *r, dlock_hold *hold);
int releaser_join(struct releaser *r); /* the release's answer */

#endif
