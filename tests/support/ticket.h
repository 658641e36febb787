/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from the test to the backend, beside the requests of the client's
 * core: a test can make requests that the core would not, and counts calls of
 * dlk_wanted(), dlk_wake() and dlk_lost().  The program is linked with --wrap
 * for each of these.
 */
#ifndef DLOCK_TESTS_TICKET_H
#define DLOCK_TESTS_TICKET_H

#include <dlock/backend.h>
#include <stdatomic.h>

#include "backends/file/file.h"
#include "backends/zk/zk.h"

struct ticket {
	union {
		struct dlk_ticket base;
		struct file_ticket file;
		struct zk_ticket zk;
	};
	char owner[ZK_OWNER_SIZE];
	atomic_int told;  /* calls of dlk_wanted() */
	atomic_int woken; /* ... of dlk_wake() */
	atomic_int lost;  /* ... of dlk_lost() */
	struct ticket *next;
};

/* Make a request of `c` for the lock "x", for ticket_ask().  The memory must
 * stay, and may be used for another request. */
void ticket_make(struct ticket *t, dlock_client *c, enum dlk_mode mode);
enum dlk_verdict ticket_ask(struct ticket *t);
/* The same with a deadline; may fail. */
enum dlk_verdict ticket_ask_for(struct ticket *t, int64_t ms);

/* Make the request and ask: the claim is granted, or the test has failed. */
void ticket_take(struct ticket *t, dlock_client *c);
/* Likewise: busy. */
void ticket_queue(struct ticket *t, dlock_client *c, enum dlk_mode mode);

/* Call watch_wanted(). */
int ticket_watch(struct ticket *t);
/* Return the last token of the range. */
uint64_t ticket_last(const struct ticket *t);

int ticket_release(struct ticket *t);
/* The same with a deadline. */
int ticket_release_for(struct ticket *t, int64_t ms);
int ticket_release_begin(struct ticket *t);
void ticket_give(struct ticket *t); /* must succeed */
/* Wait for the waiter's grant, and give it. */
void ticket_turn(struct ticket *t);

#endif
