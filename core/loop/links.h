/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's links: connect, greet, lose, and connect again.
 */
#ifndef DLOCK_CORE_LOOP_LINKS_H
#define DLOCK_CORE_LOOP_LINKS_H

#include "core/loop/state.h"

/* An event of the world, unless it is of an earlier connection. */
void dlki_links_event(struct dlki_engine *e, const struct dlki_event *event);

/* Read from links of these sets, at most DLKI_INPUT bytes each, and hand the
 * bytes to the protocol.  mu is released meanwhile. */
void dlki_links_read(struct dlki_engine *e, unsigned int sets);

/* A turn over these sets has read: cut links that stayed silent. */
void dlki_links_cut_silent(struct dlki_engine *e, unsigned int sets);

/* Write the links' output.  mu is released meanwhile. */
void dlki_links_write(struct dlki_engine *e);

/* Close links that are cut and in no other thread's hands.  Only a thread that
 * runs a turn may. */
void dlki_links_close_cut(struct dlki_engine *e);

/* Can a link of these sets be read, or any link be written or closed, without
 * an event? */
int dlki_links_have_work(const struct dlki_engine *e, unsigned int sets);

/* Close and free them all. */
void dlki_links_free(struct dlki_engine *e);

/* The protocol was called: the store's deadline may have changed. */
void dlki_links_called(struct dlki_engine *e);

#endif
