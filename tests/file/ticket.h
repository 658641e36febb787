/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct requests of a test to the backend, beside the requests of the client's
 * core. A test can make requests that the core would not make, and counts the
 * notifications.
 */
#ifndef DLOCK_TESTS_FILE_TICKET_H
#define DLOCK_TESTS_FILE_TICKET_H

#include <dlock/backend.h>
#include <stdatomic.h>

#include "backends/file/file.h"

/* Calls of dlk_wanted() for a ticket of a test. */
extern atomic_int told;

/* Calls of dlk_wake() for tickets of a test, and the latest woken ticket. */
extern atomic_int wakes;
extern _Atomic uint64_t woken;

/* Make a request of `c` for the lock "x". */
void ticket_make(struct file_ticket *t, dlock_client *c, enum dlk_mode mode);
enum dlk_verdict ticket_ask(struct file_ticket *t);

/* Make a request, and fail unless granted. */
void ticket_take(struct file_ticket *t, dlock_client *c);

/* Call watch_wanted(). */
int ticket_watch(struct file_ticket *t);

/* Release. ticket.base.token_used says which tokens were used. */
void ticket_give(struct file_ticket *t);

#endif
