/* SPDX-License-Identifier: Apache-2.0 */
#include "core/claim_state.h"

#define BIT(state) (1u << DLKI_##state)

const uint8_t dlki_claim_successors[DLKI_STATES] = {
	[DLKI_ASKING] = BIT(PARKED) | BIT(HELD) | BIT(RELEASING) |
			BIT(CLEANING) | BIT(GONE),
	[DLKI_PARKED] = BIT(ASKING),
	[DLKI_HELD] = BIT(KEPT) | BIT(LOST) | BIT(RELEASING),
	[DLKI_KEPT] = BIT(HELD) | BIT(RELEASING) | BIT(CLEANING) | BIT(GONE),
	[DLKI_LOST] = BIT(CLEANING) | BIT(GONE),
	[DLKI_RELEASING] = BIT(CLEANING) | BIT(GONE),
	[DLKI_CLEANING] = BIT(GONE),
	[DLKI_GONE] = 0,
};

const char *dlki_claim_state_name(enum dlki_claim_state state)
{
	static const char *const names[DLKI_STATES] = {
		"ASKING", "PARKED",    "HELD",     "KEPT",
		"LOST",   "RELEASING", "CLEANING", "GONE",
	};

	return names[state];
}
