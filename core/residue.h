/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The residue of a claim: what the store may have of it, as the answers tell.
 * The functions decide, and change nothing but the residue: see docs/claim.md.
 */
#ifndef DLOCK_CORE_RESIDUE_H
#define DLOCK_CORE_RESIDUE_H

#include <dlock/backend.h>

enum dlki_residue {
	DLKI_RESIDUE_NONE,   /* the store has nothing */
	DLKI_RESIDUE_STANDS, /* an entry, which the store answered for: a hold
			      * or a place in the wait queue */
	DLKI_RESIDUE_MAYBE   /* a request without an answer may still arrive,
			      * whatever stands */
};

/* What became of an attempt's requests. */
enum dlki_sending {
	DLKI_UNSENT,    /* the store never sees them */
	DLKI_ANSWERED,
	DLKI_UNANSWERED /* one of them, and it may still arrive */
};

/* `failed`: the error code of a verdict FAILED, or 0. */
enum dlki_sending dlki_sending_of(const struct dlk_ticket *t, int failed);

enum dlki_residue dlki_residue_asked(enum dlki_residue residue,
				     enum dlki_sending sending);

#endif
