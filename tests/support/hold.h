/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that must succeed, or the test has failed. */
#ifndef DLOCK_TESTS_HOLD_H
#define DLOCK_TESTS_HOLD_H

#include <dlock/dlock.h>

#include "support/wait.h"

#define FOREVER (-1)

/* take(lock), take(lock, timeout_ms): without a timeout it is patience_ms().
 * The hold has a token, unless it is a multi-lock's. */
#define take(...) TAKE_WITHIN(__VA_ARGS__, patience_ms(), 0)
#define TAKE_WITHIN(lock, timeout_ms, ...) take_within(lock, timeout_ms)
dlock_hold *take_within(dlock_lock *lock, int64_t timeout_ms);
dlock_hold *take_shared(dlock_lock *lock, int64_t timeout_ms);
void give(dlock_hold *hold);

struct dlock_stats stats(dlock_client *client);

/* For dlock_inspect() and dlock_list(): `arg` is an int, which is counted
 * up. */
void count_participant(const struct dlock_participant *p, void *arg);
void count_entry(const struct dlock_lock_info *e, void *arg);

#endif
