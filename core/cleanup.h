/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clean-ups: claims that have ended for the program, but may still stand in the
 * store, because a request or an answer was lost.  The renewer asks for their
 * release until the store has confirmed the release.  If a request may still be
 * on the way, the renewer asks until the request's lease has run out.
 *
 * Many clean-ups cost the renewer little.  While the store is unreachable, the
 * renewer tries a clean-up now and then; clean-ups that are only followed up
 * share a rate.
 */
#ifndef DLOCK_CORE_CLEANUP_H
#define DLOCK_CORE_CLEANUP_H

#include "core/claim.h"
#include "core/record.h"

/* All but dlki_cleanups_new() need the client's mu. */

/* Release the clean-ups that are due, at most 16.  Releases mu meanwhile. */
void dlki_cleanup_round(struct dlock_client *client);

/* The release of a clean-up, begun at `sent`, returned `rc`: yield the claim,
 * and drop the reference. */
void dlki_cleanup_settle(struct dlki_claim *claim, dlk_time sent, int rc);

/*
 * Release all clean-ups of this record now: they may make the lock look busy.
 * Begins no request after `latest`.  Releases mu meanwhile.  0: there was no
 * clean-up; 1: all are released; an error code, see err: a clean-up may still
 * be in the way.
 */
int dlki_cleanup_sweep(struct dlki_record *record, dlk_time latest,
		       dlk_time deadline, struct dlk_error *err);

/* ---- Clean-ups that no thread waits for: see struct dlki_schedule -------- */

/* NULL: no memory. */
struct dlki_cleanups *dlki_cleanups_new(void);

/* Leave the clean-ups under way to dlock_close(), and free. */
void dlki_cleanups_end(struct dlock_client *client);

/* As dlki_schedule.hurry: the release has a deadline of its own. */
int dlki_cleanups_hurry(const struct dlki_claim *claim);

#endif
