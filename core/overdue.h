/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls that are overdue.  The async thread ends them in time as
 * long as the store answers and few end at once.  Otherwise that thread may be
 * in the backend for seconds, and all other calls wait for it.  Then dlock-loop
 * ends the calls whose deadline has come, or that were cancelled, `ask` after
 * that; the async thread does so as well, before each call.
 */
#ifndef DLOCK_CORE_OVERDUE_H
#define DLOCK_CORE_OVERDUE_H

#include "core/async.h"

/* All need the client's mu. */

/* It may take until its deadline and `ask` beyond it. */
void dlki_overdue_begin(struct dlki_async *call);

/* It gives a member of a multi-lock back, which may take `ask`.  Without memory
 * its turn must come. */
void dlki_overdue_gives_back(struct dlki_async *call);

/* It was cancelled: it runs soon, and may take `ask` from now. */
void dlki_overdue_cancelled(struct dlki_async *call);

/* End those that are overdue, and return when to look again.  Releases mu
 * meanwhile. */
dlk_time dlki_overdue_end(struct dlock_client *client);

#endif
