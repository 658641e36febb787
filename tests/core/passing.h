/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of one client that want one lock, and another session that wants it,
 * too.
 */
#ifndef DLOCK_TESTS_CORE_PASSING_H
#define DLOCK_TESTS_CORE_PASSING_H

#include "core/fixture.h"

/* Another session of the same store, and its handle of the lock. */
extern dlock_client *others;
extern dlock_lock *theirs;
void given_others(void);

/* The takers ask in the order of the calls, and linger when they have the
 * lock; each sleeps when the next asks. */
void wait_here(struct taker *t, int64_t timeout_ms);
void wait_in(struct taker *t, dlock_lock *l, int64_t timeout_ms);
void n_wait_here(struct taker *t, int n);

/* A taker of the other session, in the store's line; `here` told that. */
void others_wait(struct taker *t);

/* It has the lock now, which takes a while; then it lets go. */
void has_it(struct taker *t);
void has_had_it(struct taker *t);

/* The same for each in turn, and the tokens rise from `token`; returns the last
 * one. */
uint64_t have_had_it(struct taker *t, int n, uint64_t token);

/* The same in any order: they asked the store at the same time. */
void each_has_had_it(struct taker *t, int n);

/* Requests for the lock that the store has seen. */
size_t asked(void);

/* Neither a clean-up nor a claim is left, after a while. */
void nothing_is_left(void);

#endif
