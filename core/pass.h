/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passing a claim on: a thread that releases a mutex or a write side may give
 * the claim to another waiting thread of the client, and the store does not
 * learn of it.
 *
 * A thread that finds the lock held by its own client has the store watch the
 * claim, and waits for the claim itself.  The claim is passed in the order of
 * asking.  When another session asks, the earlier waiters still have their turn
 * (and `passes` more, as the URI says).  Then the claim goes back to the store.
 * Later waiters ask the store, as do all waiters where the store cannot tell.
 */
#ifndef DLOCK_CORE_PASS_H
#define DLOCK_CORE_PASS_H

#include "core/wait.h"

/* With mu held: does this client hold or keep the lock of the claim, so that a
 * dlki_pass_await() is worthwhile? */
int dlki_pass_possible(const struct dlki_claim *claim);

/* Without mu, for a claim that has not asked the store: wait for a claim of
 * this client's.  DLKI_PASSED: claim->passed is a hold now; 0: ask the store;
 * ECANCELED. */
int dlki_pass_await(struct dlki_claim *claim, dlock_lock *lock,
		    struct dlki_wait *wait, struct dlk_error *err);

/* With mu held, which may be released meanwhile: the claim's last hold has
 * ended.  1: another thread holds it now. */
int dlki_pass_on(struct dlki_claim *claim, dlk_time deadline);

#endif
