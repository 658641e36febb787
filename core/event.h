/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispatcher calls the program back, with no lock held: the callbacks of
 * asynchronous calls that are over, and on_event.  It is a thread of the
 * client, so that a slow callback delays other callbacks and nothing else; or
 * the program's own loop, in dlock_dispatch().  One callback of a client runs
 * at a time.
 *
 * The queues are made of the claims and calls themselves: nothing can be lost
 * for want of memory.  A hold's events come after the callback that hands it
 * out.
 */
#ifndef DLOCK_CORE_EVENT_H
#define DLOCK_CORE_EVENT_H

#include <dlock/backend.h>

#include "core/asyncs.h"

struct dlki_claim;
struct dlock_client;

struct dlki_events {
	/* Constant once opened. */
	int own_loop;             /* the program calls dlock_dispatch() */
	int fd;                   /* then: an eventfd; else -1 */

	/* Under the client's mu. */
	struct dlki_claim *first, **last;
	struct dlki_async_queue done;
	size_t n;                 /* in both queues */
	int stop;
	enum { DLKI_EVENTS_NONE, DLKI_EVENTS_START, DLKI_EVENTS_RUN } thread_is;
	int calling;              /* a callback runs, or is about to */
	dlk_time closing_since;
	int64_t closing_ns;       /* of the time since then: of callbacks */
	pthread_cond_t more;
	pthread_t thread;
};

int dlki_events_start(struct dlock_client *client, struct dlk_error *err);

/* Without mu: start the thread unless there is one, or an own loop. */
int dlki_events_thread(struct dlock_client *client, struct dlk_error *err);

/* Without mu: drop the queued events, call the callbacks of what is over, and
 * wait for one that runs. */
void dlki_events_stop(struct dlock_client *client);

/* Without mu: call what is queued by now, in the program's loop. */
void dlki_events_dispatch(struct dlock_client *client);

/* With mu held.  AT_RISK and SAFE that are both undelivered cancel out. */
void dlki_event_post(struct dlki_claim *claim, enum dlock_event event);

/* The same, of a hold that was released: release=async. */
void dlki_event_afterwards(struct dlki_claim *claim, enum dlock_event event);

/* With mu held: it is over, its callback is due. */
void dlki_event_done(struct dlock_async *call);

/* Is this thread in a callback of the client? */
int dlki_events_here(const struct dlock_client *client);

#endif
