/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links' traffic in a turn: events, greetings, bytes read and written.
 */
#ifndef DLOCK_CORE_LOOP_TRAFFIC_H
#define DLOCK_CORE_LOOP_TRAFFIC_H

#include "core/loop/state.h"

/* Take an event of the world, unless it is of an earlier connection. */
void dlki_links_event(struct dlki_engine *e, const struct dlki_event *event);

/* Read from links of these sets, at most DLKI_INPUT bytes each, and hand the
 * bytes to the protocol.  mu is released meanwhile. */
void dlki_links_read(struct dlki_engine *e, unsigned int sets);

/* Read from the main link, if idle: bytes that have come are no answer to the
 * next request.  A system call, for a submitting thread.  mu is held; no byte
 * is read while another thread reads or writes. */
void dlki_links_look(struct dlki_engine *e);

/* Return the link of ANSWERS if the set has no other wait, and
 * dlki_link_can_await(); or NULL. */
struct dlki_link *dlki_links_lone(const struct dlki_engine *e);

/* Hand over the `n` bytes of a dlki_link_await() to the set's buffer. */
void dlki_links_awaited(struct dlki_link *l, size_t n);

/* A turn over these sets has read: cut silent links. */
void dlki_links_cut_silent(struct dlki_engine *e, unsigned int sets);

/* Write the links' output.  mu is released meanwhile. */
void dlki_links_write(struct dlki_engine *e);

/* Can a link of these sets be read, or any link be written or closed, without
 * an event? */
int dlki_links_have_work(const struct dlki_engine *e, unsigned int sets);

#endif
