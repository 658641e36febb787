/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's links: connect, lose, and connect again.
 */
#ifndef DLOCK_CORE_LOOP_LINKS_H
#define DLOCK_CORE_LOOP_LINKS_H

#include "core/loop/state.h"

/* Close cut links in no other thread's hands.  Only for a thread that runs a
 * turn. */
void dlki_links_close_cut(struct dlki_engine *e);

/* Is the link cut, and in no other thread's hands? */
int dlki_links_can_close(const struct dlki_link *l);

/* The link's state has changed: so may the link's due time. */
void dlki_links_tend(struct dlki_link *l);

/* Close and free them all. */
void dlki_links_free(struct dlki_engine *e);

/* The protocol was called: the store's deadline may have changed. */
void dlki_links_called(struct dlki_engine *e);

#endif
