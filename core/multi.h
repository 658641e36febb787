/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-locks: all or none of many locks.
 */
#ifndef DLOCK_CORE_MULTI_H
#define DLOCK_CORE_MULTI_H

#include "core/lock.h"

struct dlki_multi {
	size_t n;
	size_t n_clients;
	int upgradeable; /* of dlock_upgradeable_new(): see upgrade.h */
	struct dlock_client **clients; /* each once */
	/* The member that the next acquire waits for: where the last one
	 * waited, since the member may be in demand still. */
	_Atomic size_t first;
	struct dlki_member {
		dlock_lock *lock; /* a handle of our own */
		size_t place;     /* where the user named it */
		_Atomic int told_apart; /* core/multi_twice.h */
	} member[];               /* by name, then by URI */
};

/* What dlock_multi_new() does. */
int dlki_multi_new(dlock_lock **out, dlock_lock *const members[], size_t count,
		   struct dlk_error *err);
void dlki_multi_free(struct dlki_multi *multi);

/* The client of the member that the program named first. */
struct dlock_client *dlki_multi_home(const struct dlki_multi *multi);

/* End every wait for the multi-lock `lock`. */
void dlki_multi_cancel(dlock_lock *lock);

#endif
