/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispatcher calls the program back, with no lock held: the callbacks of
 * asynchronous calls that are over, and on_event.  It is the process's thread
 * for that (deliver.h), so that a slow callback delays other callbacks and
 * nothing else; or the program's own loop, in dlock_dispatch().  One callback
 * of a client runs at a time.
 *
 * The queues are made of the claims and calls themselves: nothing can be lost
 * for want of memory.  A hold's events come after the callback that hands it
 * out.
 */
#ifndef DLOCK_CORE_EVENT_H
#define DLOCK_CORE_EVENT_H

#include <dlock/backend.h>

#include "core/asyncs.h"
#include "core/deliver.h"

struct dlki_claim;
struct dlock_client;

struct dlki_events {
	/* Constant once opened. */
	int own_loop;             /* the program calls dlock_dispatch() */
	int fd;                   /* then: an eventfd; else -1 */
	struct dlki_delivery delivery; /* locks itself */

	/* Under the client's mu. */
	struct dlki_claim *first, **last;
	struct dlki_async_queue done;
	size_t n;                 /* in both queues */
	int stop;
	int calling;              /* a callback runs, or is about to */
	dlk_time closing_since;
	int64_t closing_ns;       /* of the time since then: of callbacks */
};

int dlki_events_start(struct dlock_client *client, struct dlk_error *err);

/* Without mu: have a thread call back, unless the program's own loop does. */
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
