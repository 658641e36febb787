/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client in a loop of libuv.  No library stands behind this header.
 *
 *     dlock_uv_start(&watcher, uv_default_loop(), client);
 *     ...
 *     dlock_uv_stop(&watcher);     in the callback of dlock_close_start()
 */
#ifndef DLOCK_UV_H
#define DLOCK_UV_H

#include <dlock/async.h>
#include <uv.h>

static inline void dlock_uv_process(uv_poll_t *watcher, int status, int events)
{
	(void)status;
	(void)events;
	(void)dlock_process(DLOCK_CAST(dlock_client *, watcher->data), 0);
}

/* Have the loop process the client.  `watcher` is the caller's memory, until
 * libuv has closed it.  DLOCK_OK, or an error code. */
static inline int dlock_uv_start(uv_poll_t *watcher, uv_loop_t *loop,
				 dlock_client *client)
{
	int fd = dlock_client_fd(client);

	if (fd < 0)
		return fd;
	if (uv_poll_init(loop, watcher, fd) != 0)
		return DLOCK_ESYSTEM;
	watcher->data = client;
	return uv_poll_start(watcher, UV_READABLE, dlock_uv_process) == 0 ?
		       DLOCK_OK :
		       DLOCK_ESYSTEM;
}

/* At the latest in the callback of dlock_close_start(), and ahead of a
 * dlock_close(). */
static inline void dlock_uv_stop(uv_poll_t *watcher)
{
	uv_close(DLOCK_CAST(uv_handle_t *, watcher), NULL);
}

#endif
