/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a test makes of the backend itself, beside those of the
 * client's core: what the core would not ask for can be tried, and what it is
 * told is counted.
 */
#ifndef DLOCK_TESTS_ZK_TICKET_H
#define DLOCK_TESTS_ZK_TICKET_H

#include <dlock/backend.h>
#include <stdatomic.h>

#include "backends/zk/zk.h"

struct ticket {
	struct zk_ticket zk; /* first */
	char owner[ZK_OWNER_SIZE];
	atomic_int told;     /* calls of dlk_wanted() for it */
	struct ticket *next;
};

/* A request of `c` for the lock "x", for ticket_ask().  The memory stays, and
 * may be used for another request. */
void ticket_make(struct ticket *t, dlock_client *c, enum dlk_mode mode);
enum dlk_verdict ticket_ask(struct ticket *t);
/* The same by a deadline; may fail. */
enum dlk_verdict ticket_ask_for(struct ticket *t, int64_t ms);

/* Both: granted, or the test has failed. */
void ticket_take(struct ticket *t, dlock_client *c);

/* What watch_wanted() returns; the last token. */
int ticket_watch(struct ticket *t);
uint64_t ticket_last(const struct ticket *t);

int ticket_release(struct ticket *t);
void ticket_give(struct ticket *t); /* the same, which must succeed */

#endif
