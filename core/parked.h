/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parked claims: the waiters of this client that sleep for a record, in the
 * order of asking.  A claim that has not asked the store yet is parked behind a
 * hold of the same client, see pass.h.
 *
 * All functions need the client's mu.
 */
#ifndef DLOCK_CORE_PARKED_H
#define DLOCK_CORE_PARKED_H

#include "core/claim.h"

void dlki_parked_add(struct dlki_claim *claim);
void dlki_parked_remove(struct dlki_claim *claim); /* if parked */

/* Have the claims that have not asked the store look at the change. */
void dlki_parked_kick(struct dlki_record *record);

/* Report the waiters that the store does not know: they wait for a claim of
 * this client, or have not reached the store. */
void dlki_parked_report(const struct dlki_record *record,
			void (*each)(const struct dlock_participant *p,
				     void *arg),
			void *arg);

#endif
