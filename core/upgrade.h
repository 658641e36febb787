/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The upgradeable read side of a read-write lock.  The handle is a multi-lock
 * of the read side and of a gate: a mutex that only upgradeable readers take,
 * under another name.
 *
 * An upgrade is a claim of the write side beside the claim of the read side,
 * which is not in the way: see dlk_request.beside.  Both stand until each is
 * released.  So a failed upgrade leaves the read side as before.
 */
#ifndef DLOCK_CORE_UPGRADE_H
#define DLOCK_CORE_UPGRADE_H

#include "core/multi.h"
#include "core/wait.h"

/* The members, by the place where the multi-lock names them. */
enum { DLKI_UPGRADEABLE_READ, DLKI_UPGRADEABLE_GATE };

/* May this thread acquire the multi-lock?  0, or EDEADLK: it is upgradeable,
 * and the thread has the lock, but not the gate. */
int dlki_upgradeable_check(const struct dlki_multi *multi,
			   struct dlk_error *err);

/* May this thread upgrade the hold?  0, and the claim of the read side; or an
 * error. */
int dlki_upgrade_check(const dlock_lock *lock, const dlock_hold *hold,
		       struct dlki_claim **read, struct dlk_error *err);

/* The lock to acquire, exclusively. */
dlock_lock *dlki_upgrade_lock(const dlock_lock *lock);

/* The claim of the gate, of an upgradeable hold. */
struct dlki_claim *dlki_upgrade_gate(const dlock_hold *hold);

/* The acquire by `wait`, beside the read side's claim, has returned `rc`, and
 * `*writes` if that is 0.  Returns `rc`; or ELOST: the hold was lost, and
 * `*writes` is released, in the time left of the call.  The program may have
 * begun to release the hold. */
int dlki_upgrade_over(const struct dlki_wait *wait, struct dlki_claim *gate,
		      int rc, dlock_hold **writes, struct dlk_error *err);

#endif
