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

#endif
