/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a client, and another session, that want the same lock. */
#ifndef DLOCK_TESTS_CORE_PASSING_H
#define DLOCK_TESTS_CORE_PASSING_H

#include "core/fixture.h"

/* Another session of the same store, with a handle of the lock. */
extern dlock_client *others;
extern dlock_lock *theirs;
void given_others(void);

/* Starts takers that linger, in this order: a taker waits before the next
 * starts. */
void wait_here(struct taker *t, int64_t timeout_ms);
void wait_in(struct taker *t, dlock_lock *l, int64_t timeout_ms);
void n_wait_here(struct taker *t, int n);

/* Starts a taker of the other session, and returns when the store has told
 * `client` of the wait. */
void others_wait(struct taker *t);

/* Waits until the taker has the lock; and then has the taker release. */
void has_it(struct taker *t);
void has_had_it(struct taker *t);

/* Does so for each taker in order, and checks that the tokens rise from
 * `token`; returns the last token. */
uint64_t have_had_it(struct taker *t, int n, uint64_t token);

/* Counts the attempts that the store has seen. */
size_t asked(void);

/* Waits until the client has no clean-up, no kept claim and no hold. */
void nothing_is_left(void);

#endif
