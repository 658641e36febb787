/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "dlock-deliver", the thread that calls programs back, for all clients of the
 * process: events, asynchronous calls that are over, lines of the log.
 *
 * What has something to call is a delivery.  The thread serves one after the
 * other, in the order in which they were posted.  A callback that does not
 * return delays those of all clients, and nothing else.
 */
#ifndef DLOCK_CORE_DELIVER_H
#define DLOCK_CORE_DELIVER_H

#include <stdatomic.h>

struct dlki_deliverer;

struct dlki_delivery {
	/* Calls what there is by now, with no lock held.  Returns whether there
	 * is more by then: the delivery has its turn again. */
	int (*call)(struct dlki_delivery *delivery);

	struct dlki_deliverer *_Atomic by; /* NULL: it has not joined */
	struct dlki_delivery *next; /* under the deliverer's mutex */
	int posted;                 /* likewise: queued, or called again */
};

/* Have a thread that it can be posted to: 0, or an errno value.  Nothing is
 * done if it has one. */
int dlki_delivery_join(struct dlki_delivery *delivery);

/* There is something to call.  With any lock held; once it has joined. */
void dlki_delivery_post(struct dlki_delivery *delivery);

/* It is called no more: waits until it has returned.  On the thread itself, in
 * the callback of another, it need not.  Nothing is done if it has not
 * joined. */
void dlki_delivery_leave(struct dlki_delivery *delivery);

#endif
