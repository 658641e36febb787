/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The residue of a claim: the claim's possible traces in the store, as the
 * answers tell.  docs/claim.md has the rows.
 */
#ifndef DLOCK_CORE_RESIDUE_H
#define DLOCK_CORE_RESIDUE_H

#include <dlock/backend.h>

#include "core/claim_state.h"

struct dlki_claim_residue {
	enum dlki_left {
		DLKI_NONE,   /* the claim stands nowhere.  While the claim is
			      * CLEANING, a request may still arrive */
		DLKI_STANDS, /* an entry, which the store answered for: a hold
			      * or a place in the wait queue */
		DLKI_MAYBE   /* a request without an answer may still arrive,
			      * whatever stands */
	} is;

	/* The end of the claim's window, a lease after the last request, and as
	 * long as the store lets claims linger: the store has forgotten the
	 * claim, and no request arrives any more.
	 * DLK_FOREVER where claims do not expire. */
	dlk_time until;
};

/* The outcome of an attempt's requests. */
enum dlki_sending {
	DLKI_SENDING_NONE,    /* the store never sees them */
	DLKI_SENDING_ANSWERED,
	DLKI_SENDING_UNANSWERED /* sent, and may still arrive */
};

/* `failed`: the error code of a verdict FAILED, or 0. */
enum dlki_sending dlki_sending_of(const struct dlk_ticket *t, int failed);

/* An attempt has ended. */
void dlki_residue_asked(struct dlki_claim_residue *residue,
			enum dlki_sending sending, dlk_time until);

/* The claim is of no use any more.  Is a clean-up to release the claim?  Also
 * after an attempt that left nothing: the store has the ticket since the
 * attempt. */
bool dlki_residue_abandoned(struct dlki_claim_residue *residue);

/* The first release has ended: GONE, or CLEANING. */
enum dlki_claim_state dlki_residue_released(struct dlki_claim_residue *residue,
					    bool confirmed);

/* The release of a clean-up in this state was sent at `sent` or later, and has
 * ended at `now`: likewise.  A request that may arrive until the window is over
 * may do so between a release and the answer. */
enum dlki_claim_state dlki_residue_cleaned(struct dlki_claim_residue *residue,
					   enum dlki_claim_state state,
					   bool confirmed, dlk_time sent,
					   dlk_time now);

#endif
