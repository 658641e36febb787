/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream sockets of the kernel.  Errors are negative errno values.
 *
 * A connected socket blocks, with a time-out, for await().  All other functions
 * say MSG_DONTWAIT.
 */
#ifndef DLOCK_CORE_WORLD_SOCKET_H
#define DLOCK_CORE_WORLD_SOCKET_H

#include "core/world/world.h"

/* Open a socket: close-on-exec, and for TCP with TCP_NODELAY and keep-alive. */
int dlki_socket_open(const struct dlki_address *to);

/* Begin to connect; 0 also if the connection stands at once. */
int dlki_socket_connect(int fd, const struct dlki_address *to);

/* The functions finish, read, await and write of struct dlki_world_type; no
 * SIGPIPE. */
int dlki_socket_finish(struct dlki_world *w, int fd);
ssize_t dlki_socket_read(struct dlki_world *w, int fd, void *out, size_t size);
ssize_t dlki_socket_await(struct dlki_world *w, int fd, void *out, size_t size);
ssize_t dlki_socket_write(struct dlki_world *w, int fd, const void *bytes,
			  size_t size);

#endif
