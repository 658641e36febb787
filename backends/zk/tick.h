/* SPDX-License-Identifier: Apache-2.0 */
/* The servers' tickTime, which an ensemble's leases are counted by. */
#ifndef DLOCK_BACKENDS_ZK_TICK_H
#define DLOCK_BACKENDS_ZK_TICK_H

#include "backends/zk/zk.h"

/*
 * With the session connected, and not locked: ask a server of an ensemble for
 * the tickTime, and count leases by the tickTime if `tick=` is less.  EINVAL:
 * then the session is too short.
 */
int dlki_zk_tick_learn(struct zk_session *s, dlk_time deadline,
		       struct dlk_error *err);

#endif
