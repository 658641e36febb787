/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waiter polls for all waiters of the client that want the same lock in the
 * same mode: the others need not ask.  A release by this client wakes the
 * client's next waiter, which need not poll for it.
 *
 * Holds are mostly short.  So the first looks of a wait come soon, each after
 * about twice the last pause, until the usual pauses are as quick.  A waiter
 * that joins other waiters of the client goes on from their pause.
 *
 * Pure; the owner locks.  A waiter has a number, other than 0, and another
 * number by which it is woken.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_LOOKS_H
#define DLOCK_MEMCACHED_PROTOCOL_LOOKS_H

#include <dlock/backend.h>

enum { MEMC_LOOKS = 256 };

struct memc_looks {
	struct memc_look {
		uint64_t name;   /* hash of a key and a mode; 0: unused */
		uint64_t asker;  /* the waiter that was told "busy", and ... */
		uint64_t waker;  /* ... the number by which it is woken */
		uint64_t silent; /* wakes a waiter that relied on it; 0: none */
		dlk_time told_at;
		int looks;       /* of the asker */
	} v[MEMC_LOOKS]; /* two names in one place cost requests, no more */
};

/* Was another waiter for the same told "busy" just now?  Then this waiter stays
 * silent. */
int dlki_memc_looks_busy(struct memc_looks *p,
			 const struct dlk_request *request, uint64_t waiter,
			 uint64_t waker, int64_t max_ms, dlk_time now);

/* Note that this waiter was told "busy".  `looks`: how many early looks so far,
 * in and out.  Returns the pause before the next in ns; 0: the usual pauses. */
dlk_time dlki_memc_looks_told(struct memc_looks *p,
			      const struct dlk_request *request,
			      uint64_t waiter, uint64_t waker, int *looks,
			      int early, int64_t max_ms, dlk_time now);

/* Count the pauses that begin with a millisecond, and double, and are shorter
 * than `poll_min_ms`. */
int dlki_memc_looks_early(int64_t poll_min_ms);

/* Return the pause after so many looks: about 1, 2, 4 ... ms, more or less by
 * up to a half, as the random hex digit says. */
dlk_time dlki_memc_looks_pause(int looks, char digit);

/* Call wake() for the waiters of either mode: the lock has come free. */
void dlki_memc_looks_wake(struct memc_looks *p,
			  const struct dlk_request *request,
			  void (*wake)(void *arg, uint64_t waker), void *arg);

#endif
