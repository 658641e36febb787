/* SPDX-License-Identifier: Apache-2.0 */
/* Watches of connections: each reports one event. */
#ifndef DLOCK_SIM_ZK_WATCHES_H
#define DLOCK_SIM_ZK_WATCHES_H

#include "sim/zk/state.h"

void zk_watches_add(struct sim_zk_conn *c, const char *path, int is_child);
void zk_watches_clear(struct sim_zk_conn *c);

/* Remove watches without an event: `type` is 1 of children, 2 of data, 3 all.
 * Returns an error of op.h. */
int32_t zk_watches_remove(struct sim_zk_conn *c, const char *path,
			  int32_t type);

/* Report an event to the watching connections of a struct zk_server. */
void zk_watches_tell(void *server, enum zk_event event, const char *path);

#endif
