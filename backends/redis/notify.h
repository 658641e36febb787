/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notification channel: one connection of each session, on which its
 * waiters hear that they were granted their locks, or should try again.  It
 * starts with the first wait.
 *
 * The core polls one descriptor from then on: a set of the connection's socket
 * and a timer.  So the waiter that polls it reads its own notification.  While
 * the connection is up, the timer tells that the server has been quiet; while
 * it is down, that the pause before the next try is over.  The try itself has a
 * thread, see subscribe.h.
 *
 * What is published while the connection is down is lost.  So all waiters make
 * another attempt when it is up again, and each one does so now and then in any
 * case.
 */
#ifndef DLOCK_REDIS_NOTIFY_H
#define DLOCK_REDIS_NOTIFY_H

#include <dlock/backend.h>

struct redis_session;

int dlki_redis_notify_init(struct redis_session *s, struct dlk_error *err);

/* Nobody pumps any more. */
void dlki_redis_notify_free(struct redis_session *s);

/* Have the channel subscribed to by the deadline; 0: it is not. */
int dlki_redis_notify_up(struct redis_session *s, dlk_time deadline);

/* The session has another server: what the one before granted is void. */
void dlki_redis_notify_server_changed(struct redis_session *s);

/* The backend's pump. */
void dlki_redis_pump(struct dlk_session *base);

#endif
