/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that must succeed. */
#ifndef DLOCK_TESTS_HOLD_H
#define DLOCK_TESTS_HOLD_H

#include <dlock/dlock.h>

#include "support/wait.h"

#define FOREVER (-1)

/* take(lock), take(lock, timeout_ms): the timeout is patience_ms() by default.
 * The hold has a token, unless the lock is a multi-lock. */
#define take(...) TAKE_WITHIN(__VA_ARGS__, patience_ms(), 0)
#define TAKE_WITHIN(lock, timeout_ms, ...) take_within(lock, timeout_ms)
dlock_hold *take_within(dlock_lock *lock, int64_t timeout_ms);
dlock_hold *take_shared(dlock_lock *lock, int64_t timeout_ms);
void give(dlock_hold *hold);

/* Takes and gives, and returns the token. */
uint64_t taken(dlock_lock *lock);

/* Frees a hold that is lost, or that is open when the client is closed. */
void drop_hold(dlock_hold *hold);

struct dlock_stats stats(dlock_client *client);

/* For dlock_inspect() and dlock_list(): counts up `arg`, an int. */
void count_participant(const struct dlock_participant *p, void *arg);
void count_entry(const struct dlock_lock_info *e, void *arg);

#endif
