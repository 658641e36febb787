/* SPDX-License-Identifier: Apache-2.0 */
/* A caller's hold, from the acquire to the release. */
#ifndef DLOCK_SIM_PROCESS_USE_H
#define DLOCK_SIM_PROCESS_USE_H

#include "sim/process/caller.h"

struct sim_use {
	struct sim_caller *by;
	struct sim_name *name;
	dlock_lock *lock;
	enum sim_side side;
	dlock_hold *hold;
	int owner; /* for the judge; another for unbound handles */
};

size_t sim_caller_draw(struct sim_caller *me, const char *site, size_t n);
void sim_nap(int64_t ns);
void sim_unexpected(const char *call, int rc);

/* May an acquire end with `rc`? */
int sim_may_end(const struct sim_play *p, int rc, int64_t timeout_ms);

/* Hold, and end early if the hold is lost. */
void sim_use_for_a_while(struct sim_use *u);

/* Release `hold`, of which the judge knows the use's. */
void sim_use_release(struct sim_use *u, dlock_hold *hold);

/* Take the upgradeable read side of a read-write lock, and upgrade. */
void sim_use_upgradeable(struct sim_use *u, int64_t timeout_ms,
			 int64_t upgrade_ms);

/* Acquire a lock that is free, and release it. */
void sim_use_once(dlock_lock *lock);

/* The same for the upgradeable read side, which needs a lock of another name,
 * too. */
void sim_use_upgradeable_once(dlock_lock *rwlock);

#endif
