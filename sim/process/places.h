/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of a fleet that keep the names of a play, for the judge. */
#ifndef DLOCK_SIM_PROCESS_PLACES_H
#define DLOCK_SIM_PROCESS_PLACES_H

#include "sim/process/models.h"

/* Forget all names. */
void sim_places_begin(void);

/* Learn which server keeps the name: the server with a claim.  Returns the
 * number; -1: no server has a claim. */
int sim_places_learn(const struct sim_models *s, const char *name,
		     int is_semaphore);

/* No name has a claim in a server that does not keep the name. */
void sim_places_look(const struct sim_models *s);

#endif
