/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-locks: all of many locks, or no lock.
 */
#ifndef DLOCK_CORE_MULTI_H
#define DLOCK_CORE_MULTI_H

#include "core/lock.h"

struct dlki_multi {
	size_t n;
	size_t n_clients;
	int upgradeable; /* of dlock_upgradeable_new(): see upgrade.h */
	struct dlock_client **clients; /* each once */
	/* The member to wait for in the next acquire: where the last acquire
	 * waited, since the member may be in demand still. */
	_Atomic size_t first;
	struct dlki_member {
		dlock_lock *lock; /* a handle of our own */
		size_t place;     /* in the user's order */
		_Atomic int told_apart; /* core/multi_twice.h */
	} member[];               /* by name, then by URI */
};

/* The body of dlock_multi_new(). */
int dlki_multi_new(dlock_lock **out, dlock_lock *const members[], size_t count,
		   struct dlk_error *err);
void dlki_multi_free(struct dlki_multi *multi);

/* Return the member that the program named in this place, from 0 on. */
dlock_lock *dlki_multi_lock(const struct dlki_multi *multi, size_t place);

/* End every wait for the multi-lock `lock`. */
void dlki_multi_cancel(dlock_lock *lock);

/* ---- Waits that concern several clients ---------------------------------- */

/* A multi-lock waits for a member of a single client, and the wait ends when
 * any client is closed.  This is the wait, as known to a client. */
struct dlki_multi_wait {
	/* Constant during the wait. */
	struct dlock_client *client;
	dlock_lock *lock;

	/* Under the client's mu. */
	LIST_ENTRY(dlki_multi_wait) in_waits; /* the client's */
	int pinned; /* the closing client is cancelling it */
};

/*
 * Begin a wait for `lock`, with the clients v[i].client, each once.  On
 * EFORKED, and on ECANCELED, when a client is closed, the wait has not begun.
 */
int dlki_multi_wait_begin(struct dlki_multi_wait v[], size_t n,
			  dlock_lock *lock, struct dlk_error *err);

/* End the wait: no reference to `lock` is left afterwards. */
void dlki_multi_wait_end(struct dlki_multi_wait v[], size_t n);

/* Cancel all waits of a closing client.  With the client's mu held, which is
 * released meanwhile. */
void dlki_multi_wait_cancel(struct dlock_client *client);

#endif
