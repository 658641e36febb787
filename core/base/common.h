/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A common thread: one for all clients of the process.  The thread begins with
 * the first user and ends with the last.  The struct is the first member of the
 * thread's data.
 *
 * A forked child does not have the thread, and may find mu locked for ever: the
 * child makes another struct, and leaves the parent's alone.
 */
#ifndef DLOCK_CORE_BASE_COMMON_H
#define DLOCK_CORE_BASE_COMMON_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct dlki_common {
	/* Constant. */
	uint64_t process;
	struct dlki_common *before; /* the parent's, kept reachable */

	/* mu protects the rest, and the data behind this struct. */
	pthread_mutex_t mu;
	pthread_cond_t changed;     /* any member but `stop` */
	unsigned int users;
	int runs;                   /* until the join */
	int stop;                   /* the thread is to return */
	pthread_t thread;
};

/* Return the process's struct at *current: `size` zeroed bytes, which begin
 * with the struct.  The first caller makes them, and they last as long as the
 * process.  NULL: no memory. */
struct dlki_common *dlki_common_here(struct dlki_common *_Atomic *current,
				     size_t size);

/* Wait until no thread is about to end.  With mu held, which is released
 * meanwhile. */
void dlki_common_settle(struct dlki_common *common);

/* Add a user, and start the thread for the first.  With mu held, which is
 * released meanwhile.  0, or the errno value of a thread that could not
 * start. */
int dlki_common_join(struct dlki_common *common, const char *name,
		     void *(*run)(void *common));

/* Remove a user; the last waits until the thread has returned.  With mu held,
 * which is released meanwhile; not on the thread.  `end` has the thread look at
 * `stop`. */
void dlki_common_leave(struct dlki_common *common,
		       void (*end)(struct dlki_common *common));

#endif
