/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real world: epoll sets, sockets, an eventfd a set for kicks, the
 * boot-time clock and getrandom().
 */
#ifndef DLOCK_CORE_WORLD_REAL_H
#define DLOCK_CORE_WORLD_REAL_H

#include "core/world/world.h"

/* Make the world.  NULL: see err; EEXHAUSTED if descriptors are short. */
struct dlki_world *dlki_real_new(struct dlk_error *err);

/* Free the world, after the last socket was closed.  Accepts NULL. */
void dlki_real_free(struct dlki_world *w);

/* Return the set's descriptor, for poll(): readable while wait() in the set
 * would find an event.  Valid until dlki_real_free(). */
int dlki_real_fd(const struct dlki_world *w, enum dlki_set set);

/* ---- Sockets ------------------------------------------------------------- */

/* Errors are negative errno values.  A connected socket blocks, with a
 * time-out, for await().  All other functions say MSG_DONTWAIT. */

/* Open a socket: close-on-exec, and for TCP with TCP_NODELAY and keep-alive. */
int dlki_socket_open(const struct dlki_address *to);

/* Begin to connect; 0 also if the connection stands at once. */
int dlki_socket_connect(int fd, const struct dlki_address *to);

/* finish() of struct dlki_world_type. */
int dlki_socket_finish(struct dlki_world *w, int fd);

#endif
