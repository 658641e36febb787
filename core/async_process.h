/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What dlock_process() does: call the callbacks that are due, of calls that are
 * over; and events and lines of the log, if the program wants them there.  One
 * thread at a time.
 */
#ifndef DLOCK_CORE_ASYNC_PROCESS_H
#define DLOCK_CORE_ASYNC_PROCESS_H

#include "core/client.h"

/* The result of dlki_process_due() when only the client's close is left: call
 * dlki_close_finish(), and nothing else.  No other thread gets in. */
#define DLKI_PROCESS_LAST 2

/* Process at most `most`, or what is due now if that is <= 0; `*done` counts
 * them, and a nudge.  1: more are due; 0; DLKI_PROCESS_LAST; EDEADLK; EBUSY. */
int dlki_process_due(struct dlock_client *client, int most, size_t *done,
		 struct dlk_error *err);

/* Wait until no thread is in it, or until the time. */
void dlki_process_await(struct dlock_client *client, dlk_time until);

/* Once it closes and no other thread is in it: call the callbacks of all calls
 * that are over, then that of `last`, or NULL. */
void dlki_process_rest(struct dlock_client *client, struct dlki_async *last);

/* Is this thread in a callback of the client that one of these calls? */
int dlki_process_here(const struct dlock_client *client);

/* Is anything due? */
int dlki_process_is_due(struct dlock_client *client);

#endif
