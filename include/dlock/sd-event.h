/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client in an event loop of libsystemd.  No library of dlock's stands behind
 * this header.
 *
 *     dlock_sd_event_start(&watcher, loop, client);
 *     ...
 *     dlock_sd_event_stop(watcher);     in the callback of dlock_close_start()
 */
#ifndef DLOCK_SD_EVENT_H
#define DLOCK_SD_EVENT_H

#include <dlock/async.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

static inline int dlock_sd_event_process(sd_event_source *watcher, int fd,
					 uint32_t events, void *client)
{
	(void)watcher;
	(void)fd;
	(void)events;
	(void)dlock_process(DLOCK_CAST(dlock_client *, client), 0);
	return 0;
}

/* Have the loop process the client.  DLOCK_OK, or an error code. */
static inline int dlock_sd_event_start(sd_event_source **watcher,
				       sd_event *loop, dlock_client *client)
{
	int fd = dlock_client_fd(client);

	if (fd < 0)
		return fd;
	return sd_event_add_io(loop, watcher, fd, EPOLLIN,
			       dlock_sd_event_process, client) < 0 ?
		       DLOCK_ESYSTEM :
		       DLOCK_OK;
}

/* At the latest in the callback of dlock_close_start(), and ahead of a
 * dlock_close(). */
static inline void dlock_sd_event_stop(sd_event_source *watcher)
{
	sd_event_source_disable_unref(watcher);
}

#endif
