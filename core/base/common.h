/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A common thread: one for all clients of the process.  It begins with its
 * first user and ends with its last.  The struct is the first member of what
 * the thread works on.
 *
 * A forked child has no such thread, and finds mu locked for ever, perhaps: it
 * makes a struct of its own, and touches nothing of the parent's.
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
	struct dlki_common *before; /* the parent's, still reachable */

	/* mu protects the rest, and what is behind this struct. */
	pthread_mutex_t mu;
	pthread_cond_t changed;     /* anything, but `stop` */
	unsigned int users;
	int runs;                   /* until it was joined */
	int stop;                   /* it is to return */
	pthread_t thread;
};

/* What this process has at *current: `size` zeroed bytes that begin with the
 * struct, made by the first caller.  They last as long as the process.  NULL:
 * no memory. */
struct dlki_common *dlki_common_here(struct dlki_common *_Atomic *current,
				     size_t size);

/* With mu held, which is released meanwhile: no thread is about to end. */
void dlki_common_settle(struct dlki_common *common);

/* With mu held, which is released meanwhile: one more user, and a thread.  0,
 * or the errno value with which the thread could not be started. */
int dlki_common_join(struct dlki_common *common, const char *name,
		     void *(*run)(void *common));

/* With mu held, which is released meanwhile: one less, not on the thread.
 * `end` has the thread look at `stop`.  When the last user leaves, the thread
 * has returned. */
void dlki_common_leave(struct dlki_common *common,
		       void (*end)(struct dlki_common *common));

#endif
