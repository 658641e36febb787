/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passing a claim on: when a thread releases a mutex or a write side for which
 * another thread of the client waits, it may give the claim to that thread, and
 * the store learns nothing of it.
 *
 * A thread that finds the lock held by its own client has the store watch the
 * claim, and waits for the claim itself.  It is passed in the order of asking.
 * When another session asks, the waiters that asked before it still have their
 * turn (and `passes` more, as the URI says).  Then the claim goes back to the
 * store.  Later waiters ask the store, as do all waiters where the store cannot
 * tell.
 */
#ifndef DLOCK_CORE_PASS_H
#define DLOCK_CORE_PASS_H

#include "core/wait.h"

/* With mu held: does this client hold or keep what the claim asks for, so that
 * it is worth a dlki_pass_await()? */
int dlki_pass_possible(const struct dlki_claim *claim);

/* Without mu, for a claim that has not asked the store: wait for one of this
 * client's.  DLKI_PASSED: claim->passed is a hold now; 0: ask the store;
 * ECANCELED. */
int dlki_pass_await(struct dlki_claim *claim, dlock_lock *lock,
		    struct dlki_wait *wait, struct dlk_error *err);

/* With mu held, which may be released meanwhile: the claim's last hold has
 * ended.  1: another thread holds it now. */
int dlki_pass_on(struct dlki_claim *claim, dlk_time deadline);

#endif
