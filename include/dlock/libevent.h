/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client in a loop of libevent.  No library of dlock's stands behind this
 * header.
 *
 *     watcher = dlock_libevent_start(base, client);
 *     ...
 *     dlock_libevent_stop(watcher);     in the callback of dlock_close_start()
 */
#ifndef DLOCK_LIBEVENT_H
#define DLOCK_LIBEVENT_H

#include <dlock/async.h>
#include <event2/event.h>

static inline void dlock_libevent_process(evutil_socket_t fd, short what,
					  void *client)
{
	(void)fd;
	(void)what;
	(void)dlock_process(DLOCK_CAST(dlock_client *, client), 0);
}

/* Have the loop process the client.  NULL: the client has no descriptor, or
 * there is no memory. */
static inline struct event *dlock_libevent_start(struct event_base *base,
						 dlock_client *client)
{
	int fd = dlock_client_fd(client);
	struct event *watcher = NULL;

	if (fd >= 0)
		watcher = event_new(base, fd, EV_READ | EV_PERSIST,
				    dlock_libevent_process, client);
	if (watcher && event_add(watcher, NULL) != 0) {
		event_free(watcher);
		return NULL;
	}
	return watcher;
}

/* At the latest in the callback of dlock_close_start(), and ahead of a
 * dlock_close(). */
static inline void dlock_libevent_stop(struct event *watcher)
{
	event_free(watcher);
}

#endif
