/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strikes of the weather at servers, each tenth of a second.
 */
#ifndef DLOCK_SIM_STRIKE_H
#define DLOCK_SIM_STRIKE_H

#include "sim/judge.h"
#include "sim/world/net.h"

struct sim_strikes {
	struct sim_net *net;
	struct sim_judge *judge;
	int64_t full_until, loading_until, down_until;
	int64_t rename_at; /* SIM_NEVER: by chance, at any time */
};

void sim_strike(struct sim_strikes *s);

/* The weather is over. */
void sim_strike_heal(struct sim_strikes *s);

#endif
