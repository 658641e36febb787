/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of the simulation: clients, each an engine with the store's protocol
 * and a few callers, a model server, and the weather, all in the calling
 * thread.
 */
#ifndef DLOCK_SIM_RUN_H
#define DLOCK_SIM_RUN_H

#include "sim/base/chance.h"
#include "sim/store.h"

struct sim_result {
	uint64_t hash, events, grants, conflicts, renewals, faults;
	int64_t ms;      /* of virtual time */
	char fault[160]; /* the first, if there is any */
};

/* From the chance alone; `trace`, unless NULL, gets a line an event.  The
 * weather lasts `seconds`, or up to four times as long if no claims have met
 * by then. */
struct sim_result sim_run(const struct sim_store *store,
			  struct sim_chance *chance, int64_t seconds,
			  FILE *trace);

#endif
