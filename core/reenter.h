/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Re-entrancy: a thread acquires a lock it already holds.
 */
#ifndef DLOCK_CORE_REENTER_H
#define DLOCK_CORE_REENTER_H

#include "core/record.h"
#include "core/wait.h"

/* dlki_reenter() returns this if the thread does not hold the lock. */
#define DLKI_NOT_HELD 1

/* With the client's mu held.  0 and this thread's hold, counted once more; or
 * DLKI_NOT_HELD, also for the upgrade of a read side; or an error code, if the
 * thread may not acquire it, or the hold has not the wait's terms. */
int dlki_reenter(struct dlki_record *record, enum dlk_mode mode,
		 const struct dlki_wait *wait, dlock_hold **out,
		 struct dlk_error *err);

/* With the client's mu held: this thread's claim, or NULL.  Of a thread that
 * has upgraded, the claim of that side. */
struct dlki_claim *dlki_claim_of_thread(const struct dlki_record *record,
					enum dlk_mode side);

#endif
