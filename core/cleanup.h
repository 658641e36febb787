/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clean-ups: claims that have ended for the program, but of which the store may
 * still have something, because a request or an answer was lost.  The renewer
 * asks for their release until the store has confirmed it.  If a request may
 * still be on its way, it asks until the lease of that request has run out.
 *
 * Many clean-ups cost the renewer little.  While the store is unreachable, it
 * tries one of them now and then; those that are only followed up share a rate.
 */
#ifndef DLOCK_CORE_CLEANUP_H
#define DLOCK_CORE_CLEANUP_H

#include "core/claim.h"
#include "core/record.h"

/* All need the client's mu. */

/* The next one that is due, seized and with a reference; NULL: none.
 * *deadline: when its release must end; it has passed if there is no point in
 * asking the store. */
struct dlki_claim *dlki_cleanup_due(struct dlock_client *client,
				    dlk_time *deadline);

/* Its release, which began at `sent`, returned `rc`: yield it, and drop the
 * reference. */
void dlki_cleanup_settle(struct dlki_claim *claim, dlk_time sent, int rc);

/*
 * Release all clean-ups of this record now: they may be what makes the lock
 * look busy.  No request is begun after `latest`.  Releases mu meanwhile.  0:
 * there was none; 1: all are released; an error code, see err: one may still be
 * in the way.
 */
int dlki_cleanup_sweep(struct dlki_record *record, dlk_time latest,
		       dlk_time deadline, struct dlk_error *err);

#endif
