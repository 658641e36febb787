/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real world: epoll sets, sockets, an eventfd a set for kicks, the
 * boot-time clock and getrandom().
 */
#ifndef DLOCK_CORE_WORLD_REAL_H
#define DLOCK_CORE_WORLD_REAL_H

#include "core/world/world.h"

/* NULL: see err; EEXHAUSTED if descriptors are short. */
struct dlki_world *dlki_real_new(struct dlk_error *err);

/* Every socket has been closed, and no library's descriptor is watched.  NULL
 * is a no-op. */
void dlki_real_free(struct dlki_world *w);

/* A descriptor that is readable while wait() in the set would find something.
 * For poll(); valid until dlki_real_free(). */
int dlki_real_fd(const struct dlki_world *w, enum dlki_set set);

#endif
