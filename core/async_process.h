/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processing, as dlock_process() does: call the callbacks of calls that are
 * over, and deliver events and lines of the log, if the program wants them
 * there.  A single thread at a time.
 */
#ifndef DLOCK_CORE_ASYNC_PROCESS_H
#define DLOCK_CORE_ASYNC_PROCESS_H

#include "core/client.h"

/* The result of dlki_process_due() when only the client's close is left: only
 * call dlki_close_finish().  No other thread gets in. */
#define DLKI_PROCESS_LAST 2

/* Process at most `most` callbacks, or all due now if `most` <= 0; `*done`
 * counts them, and a nudge.  1: more are due; 0; DLKI_PROCESS_LAST; EDEADLK;
 * EBUSY.  `waits`: this thread is in dlock_wait(); ECANCELED ends that. */
int dlki_process_due(struct dlock_client *client, int most, unsigned int waits,
		     size_t *done, struct dlk_error *err);

/* With mu held, which is released meanwhile, before the caller finishes the
 * close: end the waits in dlock_wait(), and await the attending threads, but
 * for `waits` and `attends` of this thread. */
void dlki_process_end_waits(struct dlock_client *client, unsigned int waits,
			    unsigned int attends);

/* Sleep while another thread processes: until a change, or until the time. */
void dlki_process_await(struct dlock_client *client, dlk_time until);

/* At the end of the close, by the thread that processes and goes on to: call
 * the callbacks of all calls that are over, deliver the rest of the log, and
 * call the callback of `last`, or NULL.  Then the client is OVER. */
void dlki_process_rest(struct dlock_client *client, struct dlki_async *last);

/* Is this thread in a callback of the client, called by the functions above? */
int dlki_process_here(const struct dlock_client *client);

/* Is anything due, or a begun open or close to run? */
int dlki_process_is_due(struct dlock_client *client);

#endif
