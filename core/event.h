/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispatcher calls on_event, with no lock held.  The dispatcher is the
 * process's thread for callbacks (base/job.h), so a slow callback delays only
 * other callbacks; or dlock_process(), if the program wants so.
 *
 * The queue is made of the claims themselves: no event can be lost for want of
 * memory.  A hold's events come after the callback that hands the hold out.
 */
#ifndef DLOCK_CORE_EVENT_H
#define DLOCK_CORE_EVENT_H

#include <dlock/backend.h>
#include <sys/queue.h>

#include "core/base/job.h"

struct dlki_claim;
struct dlock_client;

/* A client that a thread calls back. */
struct dlki_frame {
	const struct dlock_client *client;
	const struct dlki_frame *outer;
};

/* Is the client in one of the frames, the innermost first? */
int dlki_frames_have(const struct dlki_frame *frames,
		     const struct dlock_client *client);

struct dlki_events {
	struct dlki_job delivery; /* locks itself */

	/* Under the client's mu. */
	int by_process;           /* no thread calls on_event */
	STAILQ_HEAD(, dlki_claim) claims;
	size_t n;                 /* claims in the queue */
	int stop;
	int calling;              /* on_event runs */
	dlk_time closing_since;
	int64_t closing_ns;       /* of the time since then: of callbacks */
};

int dlki_events_start(struct dlock_client *client, struct dlk_error *err);

/* Without mu: drop the queued events, and wait for a running callback. */
void dlki_events_stop(struct dlock_client *client);

/* The rest needs mu. */

/* From now on dlki_events_call() replaces the thread.  Waits for a running
 * callback, unless this thread is in it. */
void dlki_events_by_process(struct dlock_client *client);

/* Call on_event for the first event, and release mu meanwhile.  0: there is no
 * event, or a callback runs. */
int dlki_events_call(struct dlock_client *client);

/* AT_RISK and SAFE, both undelivered, cancel out. */
void dlki_event_post(struct dlki_claim *claim, enum dlock_event event);

/* The same, of a released hold: release=async. */
void dlki_event_afterwards(struct dlki_claim *claim, enum dlock_event event);

/* The callback that handed out the claim's hold has returned. */
void dlki_event_handed_out(struct dlki_claim *claim);

/* Has the hold ended, except that an on_event about the hold runs?  A callback
 * may use the hold until it returns. */
int dlki_event_holds_up(const dlock_hold *hold);

/* Is this thread in an on_event of the client?  Without mu as well. */
int dlki_events_here(const struct dlock_client *client);

#endif
