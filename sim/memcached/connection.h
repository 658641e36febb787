/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_SIM_MEMCACHED_CONNECTION_H
#define DLOCK_SIM_MEMCACHED_CONNECTION_H

#include "sim/memcached/state.h"

/* Carry out the complete requests in `in`. */
void mm_connection_run(struct sim_memc_conn *c);

/* Forget half a request. */
void mm_connection_reset(struct sim_memc_conn *c);

#endif
