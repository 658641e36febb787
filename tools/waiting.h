/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for a person, from a thread, about the holders of the lock that
 * dlock waits for.
 */
#ifndef DLOCK_TOOLS_WAITING_H
#define DLOCK_TOOLS_WAITING_H

#include <dlock/dlock.h>
#include <pthread.h>

struct waiting { /* zeroed: not begun */
	dlock_lock *lock;
	const char *name;
	int can_ask;   /* the store reports holders */
	int64_t began; /* boottime_now() */
	int done;      /* an eventfd(2): the wait is over */
	int over, started;
	pthread_mutex_t mu;
	pthread_t thread;
};

/* Begin to wait.  `client` is the lock's; signals are blocked.  A failure is no
 * error: there are no messages then. */
void waiting_begin(struct waiting *w, dlock_lock *lock, const char *name,
		   const dlock_client *client);

/* The wait is over: no line is printed after this.  Does not wait itself. */
void waiting_over(struct waiting *w);

/* End the thread, which may be asking the store for a second.  Before the
 * handle is freed. */
void waiting_end(struct waiting *w);

#endif
