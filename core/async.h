/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls: acquires and releases that no thread waits for.
 *
 *   READY --its turn has come--> RUNNING --it would sleep--> PARKED
 *     ^                             |                          |
 *     |                             |   woken, or it is time   |
 *     \-----------------------------|--------------------------/
 *                                   \--its end--> OVER --callback-->
 *
 * One that is READY or PARKED can also end without the async thread, which may
 * be in the backend for long: see overdue.h.
 */
#ifndef DLOCK_CORE_ASYNC_H
#define DLOCK_CORE_ASYNC_H

#include <dlock/async.h>

#include "core/acquire.h"
#include "core/asyncs.h"

enum dlki_async_state {
	DLKI_ASYNC_READY,
	DLKI_ASYNC_RUNNING,
	DLKI_ASYNC_PARKED,
	DLKI_ASYNC_OVER
};

struct dlock_async {
	/* Constant. */
	struct dlock_client *client;
	dlock_done_fn done;            /* may be NULL */
	void *arg;
	dlock_hold *releasing;         /* NULL: an acquire */
	int last;                      /* of the claim's holds that ends */

	_Atomic unsigned int refs;     /* the program's, the client's */
	_Atomic uint64_t cancels;      /* not 0: cancelled */
	_Atomic int over;              /* the client may be gone */

	/* The async thread's while it runs, then under the client's mu. */
	struct dlki_acquire acquire;
	struct dlki_wait wait;

	/* Under the client's mu. */
	enum dlki_async_state state;
	int roused;                    /* while it ran: it is to run again */
	int asleep;                    /* its claim sleeps, as in wait.h */
	dlk_time sleeps_until;
	struct dlki_timer next;        /* PARKED: runs again */
	struct dlki_timer end;         /* see overdue.h */
	struct dlock_async *queue_next, **queue_link;

	/* Once OVER. */
	int rc;
	dlock_hold *hold;              /* if granted */
	char *text;                    /* of the error; NULL: no memory */
};

/* One that is yet to be entered, or NULL: no memory. */
struct dlock_async *dlki_async_new(struct dlock_client *client,
				       dlock_done_fn done, void *arg);
void dlki_async_unref(struct dlock_async *call);

/* The rest needs the client's mu. */

/* Room for one more: after that, it can be entered and end. */
int dlki_async_reserve(struct dlock_client *client, struct dlk_error *err);

/* It is READY, and the client has a reference. */
void dlki_async_enter(struct dlock_async *call);

/* The next that is READY is RUNNING now, or NULL: none is until `*until`. */
struct dlock_async *dlki_async_next(struct dlock_client *client,
					dlk_time *until);

/* It runs, and its claim goes to sleep. */
void dlki_async_park(struct dlock_async *call, dlk_time until);

/* The async thread has left it, asleep. */
void dlki_async_leave(struct dlock_async *call);

/* Something has changed that its claim is to look at. */
void dlki_async_rouse(struct dlock_async *call);

/* It is OVER: no thread and no timer has to do with it any more. */
void dlki_async_over(struct dlock_async *call, int rc, dlock_hold *hold,
		       const struct dlk_error *err);

#endif
