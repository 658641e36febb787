/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overdue asynchronous calls.  The async job ends them in time as long as
 * the store answers and few end at once.  Otherwise the async job may be in
 * the backend for seconds, and all other calls wait.  Then dlock-loop ends each
 * call `ask` after the deadline or the cancel; the async job does so as
 * well, before each call.
 */
#ifndef DLOCK_CORE_OVERDUE_H
#define DLOCK_CORE_OVERDUE_H

#include "core/async.h"

/* All need the client's mu. */

/* The call may take until the deadline and `ask` beyond. */
void dlki_overdue_begin(struct dlki_async *call);

/* The call may take until `at` while the async job is stuck.  Without memory
 * the call's turn must come. */
void dlki_overdue_at(struct dlki_async *call, dlk_time at);

/* The call was cancelled: it runs soon, and may take `ask` from now. */
void dlki_overdue_cancelled(struct dlki_async *call);

/* The same for the calls of the queue that are for `lock`. */
void dlki_overdue_cancel_each(struct dlki_async_queue *queue,
			      const dlock_lock *lock);

/* End the overdue calls, and return when to look again.  Releases mu
 * meanwhile. */
dlk_time dlki_overdue_end(struct dlock_client *client);

#endif
