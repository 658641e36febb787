/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hold hears: events, and the judge of their order.  A hold has an ear
 * as long as callers have the hold.
 */
#ifndef DLOCK_SIM_PROCESS_EARS_H
#define DLOCK_SIM_PROCESS_EARS_H

#include <dlock/dlock.h>

#include "sim/process/name.h"

/* In the terms: times after which a holder has heard. */
struct sim_hearing {
	int well_may_lose; /* a hold may be lost, though the server has no
			    * faults */
	int64_t asked_ns;  /* of a revoke; 0: perhaps never */
};

void sim_ears_begin(const struct sim_hearing *terms);

/* A caller has the hold, perhaps again; a caller has it no more. */
void sim_ear_open(struct sim_name *name, const dlock_hold *hold, int caller);
void sim_ear_close(const dlock_hold *hold);

/* For dlock_options.on_event. */
void sim_ear_event(dlock_hold *hold, enum dlock_event event, const char *why,
		   void *arg);

/* The hold was lost some time ago. */
void sim_ear_lost(const dlock_hold *hold);

/* Before and after dlock_revocable(). */
void sim_ear_listening(const dlock_hold *hold);
void sim_ear_listens(const dlock_hold *hold);

/* A revoke that began at `begun_at` has succeeded.  A holder that listened by
 * then knows of the revoke soon. */
void sim_ear_revoked(const struct sim_name *name, int64_t begun_at);
void sim_ear_asked(const dlock_hold *hold);

#endif
