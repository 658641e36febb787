/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of a client's waiters polls for all that want the same lock in the same
 * mode: what one was told, the others need not ask.  When this client releases
 * a lock, its own next waiter need not find that out by polling.
 *
 * Holds are mostly short.  So the first looks of a wait come soon, each after
 * about twice the pause of the one before, until the core's backoff is as
 * quick.  A waiter that joins others of its client goes on where they are.
 */
#ifndef DLOCK_BACKENDS_MEMCACHED_POLLS_H
#define DLOCK_BACKENDS_MEMCACHED_POLLS_H

#include "memcached.h"

/* NULL: no memory. */
struct memc_polls *dlki_memc_polls_new(void);
void dlki_memc_polls_free(struct memc_polls *p);

/* Was another waiter of this client for the same told "busy" just now?  0 for a
 * waiter whose last attempt this is: it asks for itself. */
int dlki_memc_polls_busy(const struct memc_ticket *t);

/* This waiter was told "busy".  Returns when it is to look again; 0: when the
 * core's backoff says so. */
dlk_time dlki_memc_polls_told(struct memc_ticket *t);

/* How many pauses that begin with a millisecond, and double, are shorter than
 * `poll_min_ms`. */
int dlki_memc_polls_early(int64_t poll_min_ms);

/* The pause after so many of them: about 1, 2, 4 ... ms, by up to half of that
 * more or less, as the random hex digit says. */
int64_t dlki_memc_polls_pause(int looks, char digit);

/* Its lock has come free: wake this client's waiters. */
void dlki_memc_polls_wake(const struct memc_ticket *t);

#endif
