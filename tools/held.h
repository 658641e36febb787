/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of the command line, from the wait to the release. */
#ifndef DLOCK_TOOLS_HELD_H
#define DLOCK_TOOLS_HELD_H

#include "options.h"
#include "signals.h"
#include "store.h"
#include "waiting.h"

#include <dlock/dlock.h>
#include <semaphore.h>

struct held { /* zeroed by the caller, but for `began` */
	struct options o;
	const char *name;
	int64_t began;   /* boottime_now() when dlock started */
	struct store store;
	struct signals signals;
	struct waiting waiting;
	dlock_lock *lock;
	dlock_hold *hold;
	int64_t granted; /* boottime_now() */
	sem_t loss_told; /* posted when the reason of a loss was printed */
	struct end end;  /* the signal to die of */
};

/* These return 0 or an exit code, with a message. */

/* Find the store and the required capabilities: before there are threads. */
int held_choose(struct held *h);

/* Open the store, make the lock's handle, take the signals. */
int held_open(struct held *h);

/* Wait for the lock; on a terminal and with -v, print the holders meanwhile.  A
 * signal that ends the wait is in h->end. */
int held_acquire(struct held *h);

/* Return how long before the end of a lease of this length dlock takes the lock
 * for lost: at most an eighth of the lease, and a millisecond. */
int64_t held_margin_ms(int64_t lease_ms);

/* Return the pending signal that ends dlock, or 0.  After Ctrl-Z, print a
 * message: the lock stays held. */
int held_take_signals(const struct held *h);

/*
 * Keep the lock until --hold-at-least is over, the lock is lost, or a signal
 * ends it.  Returns `status`, or 128+n for that signal.
 */
int held_keep(struct held *h, int status);

/* Release the lock.  Returns `status`, or LEAVE_LOST if the lock had been
 * lost. */
int held_release(struct held *h, int status);

/* Close all that is open.  Returns `status`, or dies of the signal that
 * `status` stands for. */
int held_close(struct held *h, int status);

#endif
