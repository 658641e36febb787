/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispatcher: one thread per client that has an on_event, which calls it
 * with no lock held, so that a slow callback delays other callbacks and
 * nothing else.  The queue is made of the claims themselves: an event cannot be
 * lost for want of memory.
 */
#ifndef DLOCK_CORE_EVENT_H
#define DLOCK_CORE_EVENT_H

#include <dlock/backend.h>

struct dlki_claim;
struct dlock_client;

struct dlki_events {
	/* Under the client's mu. */
	struct dlki_claim *first, **last;
	int stop;
	int running;
	dlk_time closing_since;
	int64_t closing_ns;       /* of the time since then: of callbacks */
	pthread_cond_t more;
	pthread_t thread;
};

int dlki_events_start(struct dlock_client *client, struct dlk_error *err);

/* Without mu: drop the queued events, and wait for a running callback. */
void dlki_events_stop(struct dlock_client *client);

/* With mu held.  AT_RISK and SAFE that are both undelivered cancel out. */
void dlki_event_post(struct dlki_claim *claim, enum dlock_event event);

/* Is this thread the client's dispatcher? */
int dlki_events_here(const struct dlock_client *client);

#endif
