/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's server: where links connect, and whether the server there is
 * home.  The main link looks for home; other links follow where it is up.
 */
#ifndef DLOCK_CORE_LOOP_SERVER_H
#define DLOCK_CORE_LOOP_SERVER_H

#include "core/loop/state.h"

/* The link is down, and the time has come.  1: connect to l->met.at.  0: wait
 * until l->retry_at. */
int dlki_server_next(struct dlki_link *l);

/* The longest time for a greeting. */
dlk_time dlki_server_share(const struct dlki_link *l);

/* The link is down, for the reason l->why.  Returns whether the next step comes
 * after a pause. */
int dlki_server_down(struct dlki_link *l, int was_up);

/* The server is greeted.  1: the link may go up; else the link is cut. */
int dlki_server_met(struct dlki_link *l);

/* The main link is up: waiting links may connect. */
void dlki_server_up(struct dlki_engine *e);

/* No server will do, or the server refuses us, for the reason `err`: the
 * waiting ops fail, by the rule of dlki_ops_fail_queue().  Without a home, no
 * link connects again. */
void dlki_server_refuse(struct dlki_engine *e, const struct dlk_error *err);

/* Take the answer of a look-up, if there is one. */
void dlki_server_look(struct dlki_engine *e);

#endif
