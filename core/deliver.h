/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "dlock-deliver", the thread that calls programs back, for all clients of the
 * process: events, asynchronous calls that are over, lines of the log.
 *
 * A delivery has callbacks to call.  The thread serves the deliveries in the
 * order of posting.  A callback that does not return delays only callbacks, of
 * all clients.
 */
#ifndef DLOCK_CORE_DELIVER_H
#define DLOCK_CORE_DELIVER_H

#include <stdatomic.h>
#include <sys/queue.h>

struct dlki_deliverer;

struct dlki_delivery {
	/* Calls the callbacks due now, with no lock held.  Returns whether
	 * there are more by then: the delivery gets another turn. */
	int (*call)(struct dlki_delivery *delivery);

	struct dlki_deliverer *_Atomic by; /* NULL: not joined */
	TAILQ_ENTRY(dlki_delivery) in_queue; /* under the deliverer's mutex */
	int posted;                 /* likewise: queued, or called again */
};

/* Have a thread to post the delivery to: 0, or an errno value.  A no-op for a
 * delivery with a thread. */
int dlki_delivery_join(struct dlki_delivery *delivery);

/* Post the delivery: it has callbacks to call.  With any lock held; once the
 * delivery has joined. */
void dlki_delivery_post(struct dlki_delivery *delivery);

/* Call the delivery no more: waits until the callback has returned.  On the
 * thread itself, in the callback of another delivery, there is no wait.  A
 * no-op for a delivery that has not joined. */
void dlki_delivery_leave(struct dlki_delivery *delivery);

#endif
