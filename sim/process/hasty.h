/* SPDX-License-Identifier: Apache-2.0 */
/* Cancels before the wait, and a close while another thread processes. */
#ifndef DLOCK_SIM_PROCESS_HASTY_H
#define DLOCK_SIM_PROCESS_HASTY_H

#include "sim/process/caller.h"

/* Wait by a handle with sticky cancels.  A cancel comes before a wait, or
 * beside waits. */
void sim_caller_cancel_early(struct sim_caller *me);

/* Close the client without waiting.  Meanwhile another thread processes,
 * too. */
void sim_hasty_close(const struct sim_play *p, dlock_client *c);

#endif
