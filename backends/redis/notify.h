/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notification channel: one connection and one thread for each session, on
 * which its waiters hear that they were granted their locks, or should try
 * again.  Both start with the first wait.
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

/* Ends the thread. */
void dlki_redis_notify_free(struct redis_session *s);

/* Have the channel subscribed to by the deadline; 0: it is not. */
int dlki_redis_notify_up(struct redis_session *s, dlk_time deadline);

/* The session has another server: what the one before granted is void. */
void dlki_redis_notify_server_changed(struct redis_session *s);

#endif
