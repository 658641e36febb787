/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a test makes of the backend itself, beside those of the
 * client's core: what the core would not ask for can be tried, and what it is
 * told is counted.
 */
#ifndef DLOCK_TESTS_FILE_TICKET_H
#define DLOCK_TESTS_FILE_TICKET_H

#include <dlock/backend.h>
#include <stdatomic.h>

#include "backends/file/file.h"

/* Calls of dlk_wanted() for a ticket of a test. */
extern atomic_int told;

/* Calls of dlk_wake() for tickets of a test, and the ticket woken last. */
extern atomic_int wakes;
extern _Atomic uint64_t woken;

/* A request of `c` for the lock "x", for ticket_ask(). */
void ticket_make(struct file_ticket *t, dlock_client *c, enum dlk_mode mode);
enum dlk_verdict ticket_ask(struct file_ticket *t);

/* Both: granted, or the test has failed. */
void ticket_take(struct file_ticket *t, dlock_client *c);

/* What watch_wanted() returns. */
int ticket_watch(struct file_ticket *t);

/* With ticket.base.token_used as it is. */
void ticket_give(struct file_ticket *t);

#endif
