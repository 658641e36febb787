/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step of a caller, for the caller's own files.
 */
#ifndef DLOCK_SIM_STEP_H
#define DLOCK_SIM_STEP_H

#include "sim/caller.h"

/* The next step is at this time. */
void sim_step_at(struct sim_caller *c, dlk_time at);

/* 0; or the op is not submitted. */
int sim_step_submit(const struct sim_caller *c, struct dlki_op *op,
		    enum dlki_verb verb);

/* Check that the event `what` comes when due; later only if the process stood
 * still. */
void sim_step_check_time(const struct sim_caller *c, dlk_time due, dlk_time now,
			 const char *what);

/* Rest, then begin anew. */
void sim_step_rest(struct sim_caller *c, dlk_time now);

#endif
