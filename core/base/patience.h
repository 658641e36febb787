/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patience of a caller that waits for a lock.  Its calls of the backend
 * have deadlines of their own.  Once the wait is cancelled, the caller no
 * longer wants the answer: the deadlines move forward, to `ask` after the
 * cancel.
 *
 * Patience is a thread-local variable, so any wait inside the backend can check
 * it.  A cancel rouses the threads that sleep in the rousers of the client.  A
 * wait elsewhere, such as a socket's, checks again every slice.
 *
 * LOCKS
 *  rouse() is called with the list's mutex held, and may take the mutex under
 *  which the threads sleep.  No thread joins, leaves or rouses with that mutex
 *  or a client's held.
 */
#ifndef DLOCK_CORE_BASE_PATIENCE_H
#define DLOCK_CORE_BASE_PATIENCE_H

#include <dlock/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>

/* A place where calls sleep. */
struct dlki_rouser {
	/* Wake the threads whose patience was cancelled. */
	void (*rouse)(struct dlki_rouser *r);
	struct dlki_rousers *of; /* or NULL: in no list */
	LIST_ENTRY(dlki_rouser) in_all;
};

/* The places where the calls of a client sleep. */
struct dlki_rousers {
	pthread_mutex_t mu;
	LIST_HEAD(, dlki_rouser) all;
};

struct dlki_patience {
	const _Atomic uint64_t *cancels; /* it ends when this moves */
	uint64_t seen;
	_Atomic uint64_t *answered;   /* or NULL: a cancel waits for the wait
					  * that it ends, and this is how many
					  * have ended one */
	const _Atomic uint64_t *own;  /* or when this is not 0, if given */
	struct dlki_rousers *rousers; /* what this thread opens joins them;
					  * or NULL */
	int64_t ask_ms;
	dlk_time ended; /* when that was noticed; 0: it is not over */
	struct dlki_patience *outer;
	struct dlki_patience **slot; /* the thread's variable */
};

/* This thread's calls are made with patience `p`, until the end; then with the
 * one that was in force before. */
void dlki_patience_begin(struct dlki_patience *p);
void dlki_patience_end(struct dlki_patience *p);

/* Until when to sleep where no rouser wakes, before looking at dlk_deadline()
 * again: at most until `deadline`. */
dlk_time dlki_wait_slice(dlk_time deadline);

/* The patience of this thread's calls, or NULL. */
const struct dlki_patience *dlki_patience_here(void);

/* Is it over? */
int dlki_patience_over(struct dlki_patience *p);

/* The same from any thread, during the call; 0 for NULL. */
int dlki_patience_cancelled(const struct dlki_patience *p);

/* It is, and the wait ends for that. */
void dlki_patience_answer(const struct dlki_patience *p);

void dlki_rousers_init(struct dlki_rousers *all);
void dlki_rousers_destroy(struct dlki_rousers *all);

/* Wake the threads whose patience was cancelled, behind the cancel. */
void dlki_rousers_rouse(struct dlki_rousers *all);

/* Join the list of this thread's patience, if any; leave it, if joined: no
 * rouse() is under way then. */
void dlki_rouser_join(struct dlki_rouser *r);
void dlki_rouser_leave(struct dlki_rouser *r);

#endif
