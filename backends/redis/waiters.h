/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tickets of a session that wait for news: waiters by the number of the
 * last attempt, which news name; and watched claims by owner.
 *
 * A grant message counts for the named attempt alone.  The message may come
 * before the answer to the attempt, on another connection.
 */
#ifndef DLOCK_REDIS_WAITERS_H
#define DLOCK_REDIS_WAITERS_H

#include "backends/redis/redis.h"

/* All with the engine's mutex held. */

/* Begin an attempt, with a new number. */
void dlki_redis_waiter_attempt(struct redis_ticket *t);

/* Forget the ticket, which no longer waits. */
void dlki_redis_waiter_forget(struct redis_ticket *t);

/* Find the ticket of the last attempt with this number, or NULL. */
struct redis_ticket *dlki_redis_waiter_find(const struct redis_session *s,
					    uint64_t attempt);

/* Take a grant message for the last attempt.  1: the ticket has token and lease
 * from the message.  0: no message has come, or the lease is old, and another
 * attempt begins a new lease. */
int dlki_redis_waiter_take(struct redis_ticket *t);

/* Void the grant messages so far. */
void dlki_redis_waiters_void(struct redis_session *s);

/* Wake every waiter for another attempt, and say that every claim is wanted
 * which the server watches, or may watch: news may have been missed. */
void dlki_redis_waiters_wake(struct redis_session *s);

/* ---- Watched claims ------------------------------------------------------ */

void dlki_redis_watcher_add(struct redis_ticket *t);
void dlki_redis_watcher_forget(struct redis_ticket *t);

/* End the ops that wait for the notification channel, which is down. */
void dlki_redis_watchers_deaf(struct redis_session *s);

struct redis_ticket *dlki_redis_watcher_find(const struct redis_session *s,
					     const char *owner);

#endif
