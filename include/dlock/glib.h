/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client in a main loop of GLib.  No library of dlock's stands behind this
 * header.
 *
 *     watcher = dlock_glib_start(NULL, client);
 *     ...
 *     dlock_glib_stop(watcher);     in the callback of dlock_close_start()
 */
#ifndef DLOCK_GLIB_H
#define DLOCK_GLIB_H

#include <dlock/async.h>
#include <glib-unix.h>

static inline gboolean dlock_glib_process(gint fd, GIOCondition what,
					  gpointer client)
{
	(void)fd;
	(void)what;
	(void)dlock_process(DLOCK_CAST(dlock_client *, client), 0);
	return G_SOURCE_CONTINUE;
}

/* Have the loop of `context` process the client; NULL is the default context.
 * Returns NULL if the client has no descriptor. */
static inline GSource *dlock_glib_start(GMainContext *context,
					dlock_client *client)
{
	int fd = dlock_client_fd(client);
	GSource *watcher;

	if (fd < 0)
		return NULL;
	watcher = g_unix_fd_source_new(fd, G_IO_IN);
	g_source_set_callback(watcher, G_SOURCE_FUNC(dlock_glib_process),
			      client, NULL);
	g_source_attach(watcher, context);
	return watcher;
}

/* At the latest in the callback of dlock_close_start(), and ahead of a
 * dlock_close(). */
static inline void dlock_glib_stop(GSource *watcher)
{
	g_source_destroy(watcher);
	g_source_unref(watcher);
}

#endif
