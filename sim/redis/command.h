/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the model Redis: which a client may call, and when. */
#ifndef DLOCK_SIM_REDIS_COMMAND_H
#define DLOCK_SIM_REDIS_COMMAND_H

#include "sim/redis/call.h"

/* Carry the call out for a client. */
void rm_command_call(const struct rm_call *call);

/* Carry the call out for a script. */
void rm_command_call_by_script(const struct rm_call *call, struct rm_run *run);

#endif
