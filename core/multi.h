/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-locks: all or none of many locks, in one global order.
 */
#ifndef DLOCK_CORE_MULTI_H
#define DLOCK_CORE_MULTI_H

#include "core/acquire.h"

int dlki_multi_acquire(dlock_lock *lock, const struct dlki_wait *wait,
		       dlock_hold **out, struct dlk_error *err);
int dlki_multi_release(dlock_hold *hold, struct dlk_error *err);
void dlki_multi_free(struct dlki_multi *multi);
void dlki_multi_cancel(struct dlki_multi *multi);

/* OK, ELOST, or EFORKED of the first member that is not OK. */
int dlki_multi_check(const dlock_hold *hold);
int64_t dlki_multi_remaining_ms(const dlock_hold *hold);
int dlki_multi_fd(dlock_hold *hold, struct dlk_error *err);

#endif
