/* SPDX-License-Identifier: Apache-2.0 */
/* A caller's use of a lock: from the acquire to the release, for the judge. */
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
	int may_cancel; /* the use's own handle is */
	dlock_acquire_options opts; /* size 0: there are none */
};

size_t sim_caller_draw(struct sim_caller *me, const char *site, size_t n);

void sim_nap(int64_t ns);

/* Process the client's callbacks until `*over` says that the callback has come.
 * Another caller of the client may process, too. */
void sim_await(const struct sim_play *p, dlock_client *c, const int *over);

/* Fail: `call` returned `rc`. */
void sim_unexpected(const char *call, int rc);

/* Did a call end for want of memory, as may be? */
int sim_is_scarce(const struct sim_play *p, int rc);

/* Should a call that returned `rc` be tried again?  `*tries` counts the tries,
 * and is 0 before the first. */
int sim_again(const struct sim_play *p, int rc, int *tries);

/* May a server fail to answer for the name, and may a hold of the name be lost?
 * NULL: of any name. */
int sim_may_fail(const struct sim_play *p, const struct sim_name *name);
int sim_may_lose(const struct sim_play *p, const struct sim_name *name);

/* May an acquire of the name end with `rc`? */
int sim_may_end(const struct sim_play *p, const struct sim_name *name, int rc,
		int64_t timeout_ms);

/* May a call about the use's lock end with `rc`? */
int sim_use_may_end(const struct sim_use *u, int rc, int64_t timeout_ms);

/* Draw a timeout; `may_wait`: or none. */
int64_t sim_draw_timeout(struct sim_caller *me, int may_wait);

/* Draw a name and a side, and perhaps options. */
struct sim_use sim_use_draw(struct sim_caller *me);

/* Acquire the lock.  `hold` is NULL, or of an earlier acquire of the caller's.
 * Returns the code. */
int sim_use_acquire(struct sim_use *u, int64_t timeout_ms);

/* Hold for a few naps, or until the hold is lost. */
void sim_use_hold(struct sim_use *u);

void sim_use_release(struct sim_use *u);

/* Are the holders of the name told of a revoke at once? */
int sim_can_revoke(const dlock_client *c, const struct sim_name *name);

/* Revoke the lock.  Returns the code; 0 where permits cannot be revoked. */
int sim_use_revoke(const struct sim_use *u);

#endif
