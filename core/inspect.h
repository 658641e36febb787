/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the store that are not about a hold: inspect, list, break,
 * revoke.
 *
 * A backend may report with its own locks held, but the user's callback may
 * call anything.  So it is called when the backend has returned and the call
 * has ended for the client; it may even close the client.
 */
#ifndef DLOCK_CORE_INSPECT_H
#define DLOCK_CORE_INSPECT_H

#include "core/lock.h"

/* What dlock_inspect(), dlock_list(), dlock_revoke() and dlock_break() do. */
int dlki_inspect(const dlock_lock *lock,
		 void (*each)(const struct dlock_participant *p, void *arg),
		 void *arg, int64_t timeout_ms, struct dlk_error *err);
int dlki_list(dlock_client *client,
	      void (*each)(const struct dlock_lock_info *info, void *arg),
	      void *arg, int64_t timeout_ms, struct dlk_error *err);
int dlki_revoke(const dlock_lock *lock, int64_t timeout_ms,
		struct dlk_error *err);
int dlki_break(const dlock_lock *lock, int64_t timeout_ms,
	       struct dlk_error *err);

#endif
