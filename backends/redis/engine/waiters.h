/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tickets of a session by the number of the last attempt: news name that
 * number.
 *
 * A grant message counts for the named attempt alone.  The message may come
 * before the answer to the attempt, on another connection.
 */
#ifndef DLOCK_REDIS_ENGINE_WAITERS_H
#define DLOCK_REDIS_ENGINE_WAITERS_H

#include "backends/redis/engine/session.h"

/* All with the engine's mutex held. */

/* An attempt begins, with a new number. */
void dlki_redis2_waiter_attempt(struct redis2_ticket *t);

/* No news matter to the ticket any more. */
void dlki_redis2_waiter_forget(struct redis2_ticket *t);

/* NULL: no ticket's last attempt has this number. */
struct redis2_ticket *dlki_redis2_waiter_find(const struct redis2_session *s,
					      uint64_t attempt);

/* 1: a grant message has come for the last attempt, and the ticket has token
 * and lease from the message.  0: no message has come, or the lease is old, and
 * another attempt begins a new lease. */
int dlki_redis2_waiter_take(struct redis2_ticket *t);

/* Every waiter makes another attempt. */
void dlki_redis2_waiters_wake(struct redis2_session *s);

#endif
