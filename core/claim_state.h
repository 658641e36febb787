/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a claim, and which of them may follow which: docs/claim.md.
 */
#ifndef DLOCK_CORE_CLAIM_STATE_H
#define DLOCK_CORE_CLAIM_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* From RELEASING on, the program has no hold of the claim any more. */
enum dlki_claim_state {
	DLKI_ASKING,
	DLKI_PARKED,
	DLKI_HELD,
	DLKI_KEPT,
	DLKI_LOST,
	DLKI_RELEASING,
	DLKI_CLEANING,
	DLKI_GONE
};

#define DLKI_STATES 8

/* A bit for each state: 1 << enum dlki_claim_state. */
extern const uint8_t dlki_claim_successors[DLKI_STATES];

static inline bool dlki_claim_may_follow(enum dlki_claim_state from,
					 enum dlki_claim_state to)
{
	return dlki_claim_successors[from] >> to & 1;
}

const char *dlki_claim_state_name(enum dlki_claim_state state);

#endif
