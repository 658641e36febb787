/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tickets of a session that wait for a notification, by owner.
 *
 * A grant message counts for the very attempt that it names: a later attempt
 * will find what an earlier one was granted.
 */
#ifndef DLOCK_REDIS_WAITERS_H
#define DLOCK_REDIS_WAITERS_H

#include <stdint.h>

struct redis_notification;
struct redis_session;
struct redis_ticket;

/*
 * An attempt begins.  1: a grant message came for the last attempt, and the
 * ticket has its token and lease now.  0: *number is this attempt's, and from
 * now on a notification for it wakes the ticket.
 */
int dlki_redis_waiter_attempt(struct redis_ticket *t, uint64_t *number);

/* From now on a notification for the granted ticket, or a new server, means
 * that another session asks for it. */
void dlki_redis_waiter_watch(struct redis_ticket *t);

/* The ticket waits no more, and is not watched. */
void dlki_redis_waiter_forget(struct redis_ticket *t);

/* A notification came in. */
void dlki_redis_waiters_notify(struct redis_session *s,
			       const struct redis_notification *n);

/* Both with the session's mu held: forget all grant messages; wake all. */
void dlki_redis_waiters_void_grants(struct redis_session *s);
void dlki_redis_waiters_wake_all(struct redis_session *s);

#endif
