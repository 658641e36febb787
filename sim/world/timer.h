/* SPDX-License-Identifier: Apache-2.0 */
/* A server's clocks, and the timer with which memcached counts seconds. */
#ifndef DLOCK_SIM_TIMER_H
#define DLOCK_SIM_TIMER_H

#include "sim/world/net.h"

/* The timer of a server that was not stopped is late by less. */
enum { SIM_LATE_MS = 1200 };

struct sim_memc_time sim_server_time(const struct sim_net *n,
				     const struct sim_server *s);

/* When does the timer ring?  SIM_NEVER: the model has no timer. */
int64_t sim_timer_due(const struct sim_server *s);

void sim_timer_ring(struct sim_net *n, struct sim_server *s);

/* Whether the count is from before a stop, and too small to be relied on. */
int sim_timer_is_behind(const struct sim_server *s);

/* The server was stopped, and reads connections before the timer rings. */
void sim_timer_resume(const struct sim_net *n, struct sim_server *s);

#endif
