/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler of a client: two threads.
 *
 * The timer thread waits on a boot-time timer and never calls a backend: it
 * declares lost what has run out, whatever the store is doing at the time, and
 * tells the keeper when work is due.  The keeper calls the backend: renewals in
 * batches, clean-up of what a release could not confirm.
 */
#ifndef DLOCK_CORE_LEASE_H
#define DLOCK_CORE_LEASE_H

#include "core/heap.h"

struct dlki_claim;
struct dlock_client;

struct dlki_lease {
	/* Under the client's mu. */
	struct dlki_heap work;     /* HELD claims by when they are to be renewed
				    * or looked at */
	struct dlki_heap clean;    /* claims whose release the store has not
				    * confirmed, by when to ask again */
	struct dlki_heap expiry;  /* claims by an end that their promise had: it
				    * is looked at again when that has come */
	dlk_time armed;            /* what the timer is set to */
	int keeper_idle;
	int stop;
	pthread_cond_t due;        /* the keeper sleeps here */

	/* Constant once started. */
	int64_t ttl_ms;            /* the session's */
	int64_t margin_ms;
	int64_t interval_ms;       /* between renewals or looks; 0: none */
	int timer_fd, stop_fd;
	pthread_t timer, keeper;
};

int dlki_lease_start(struct dlock_client *client, struct dlk_error *err);

/* With mu held: begin no work any more. */
void dlki_lease_halt(struct dlock_client *client);

/* Without mu, once halted.  Waits for the keeper's call of the backend. */
void dlki_lease_stop(struct dlock_client *client);

/* The end of the promise for a lease of `lease_ms` counted from `since`. */
dlk_time dlki_lease_end(const struct dlki_lease *lease, dlk_time since,
			int64_t lease_ms);

/* max(2 ms + 1 % of ttl, the store's own granularity): design.md section 2. */
int64_t dlki_lease_margin(int64_t ttl_ms, int64_t store_ms);

/* The rest needs the client's mu. */

/* Room in every heap for `n` claims: after that, scheduling cannot fail. */
int dlki_lease_reserve(struct dlki_lease *lease, size_t n);

/* A claim was granted: renew it in time, and see its end. */
void dlki_lease_add(struct dlki_claim *claim);
void dlki_lease_remove(struct dlki_claim *claim);

/* Have the keeper renew it, or if it needs cleaning, clean it, at `at`. */
void dlki_lease_work(struct dlki_claim *claim, dlk_time at);

/* When the keeper has something to do; DLK_FOREVER: nothing. */
dlk_time dlki_lease_due(const struct dlki_lease *lease);

/* The store has given the ticket's lease: note its end, and return that of the
 * promise, which max_hold may bring sooner. */
dlk_time dlki_lease_promise(struct dlki_claim *claim);

/* The promise was moved to `end`. */
void dlki_lease_moved(struct dlki_claim *claim, dlk_time end);

#endif
