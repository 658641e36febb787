/* SPDX-License-Identifier: Apache-2.0 */
/* The timer of a model memcached, which counts the seconds. */
#ifndef DLOCK_SIM_TIMER_H
#define DLOCK_SIM_TIMER_H

#include "sim/world/net.h"

/* When does the timer ring?  SIM_NEVER: the model has no timer. */
int64_t sim_timer_due(const struct sim_server *s);

void sim_timer_ring(struct sim_net *n, struct sim_server *s);

/* The server was stopped, and reads connections before the timer rings. */
void sim_timer_resume(const struct sim_net *n, struct sim_server *s);

#endif
