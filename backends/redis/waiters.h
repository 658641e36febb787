/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tickets of a session that news are for: waiters by the number of the last
 * attempt, which news name; and watched claims by owner.
 *
 * A grant message counts for the named attempt alone.  The message may come
 * before the answer to the attempt, on another connection.
 */
#ifndef DLOCK_REDIS_WAITERS_H
#define DLOCK_REDIS_WAITERS_H

#include "backends/redis/redis.h"

/* All with the engine's mutex held. */

/* An attempt begins, with a new number. */
void dlki_redis_waiter_attempt(struct redis_ticket *t);

/* The ticket no longer waits. */
void dlki_redis_waiter_forget(struct redis_ticket *t);

/* NULL: no ticket's last attempt has this number. */
struct redis_ticket *dlki_redis_waiter_find(const struct redis_session *s,
					    uint64_t attempt);

/* 1: a grant message has come for the last attempt, and the ticket has token
 * and lease from the message.  0: no message has come, or the lease is old, and
 * another attempt begins a new lease. */
int dlki_redis_waiter_take(struct redis_ticket *t);

/* Grant messages so far are void. */
void dlki_redis_waiters_void(struct redis_session *s);

/* News may have been missed: every waiter makes another attempt, and every
 * claim that the server watches, or may watch, may be wanted. */
void dlki_redis_waiters_wake(struct redis_session *s);

/* ---- Watched claims ------------------------------------------------------ */

void dlki_redis_watcher_add(struct redis_ticket *t);
void dlki_redis_watcher_forget(struct redis_ticket *t);

/* The notification channel is down: ops that wait for it end. */
void dlki_redis_watchers_deaf(struct redis_session *s);

struct redis_ticket *dlki_redis_watcher_find(const struct redis_session *s,
					     const char *owner);

#endif
