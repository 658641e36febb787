/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that opens the notification channel's connection, because names,
 * servers and log-ins take their time.  It lasts as long as one try.
 */
#ifndef DLOCK_REDIS_SUBSCRIBE_H
#define DLOCK_REDIS_SUBSCRIBE_H

#include <dlock/backend.h>
#include <pthread.h>

struct redis_conn;
struct redis_session;

/* The end of a try: here is the connection, or err if it is NULL. */
typedef void redis_subscribed(struct redis_session *s, struct redis_conn *c,
			      struct dlk_error *err);

/* At most one thread is in a try at a time.  Under the session's mu, except for
 * the thread, which reads them at its beginning. */
struct redis_subscriber {
	pthread_t thread, last; /* the last that was started; the one before */
	int has_thread, has_last;
	redis_subscribed *subscribed;
};

/* With the session's mu held, while no try is under way: start one, which calls
 * `subscribed` at its end.  -1: there is no thread for it. */
int dlki_redis_subscribe(struct redis_session *s, redis_subscribed *subscribed);

/* Wait for the try that is under way; `stop` is set, and ends it soon. */
void dlki_redis_subscribe_end(struct redis_session *s);

#endif
