/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that concern several clients: a multi-lock waits for a member of one of
 * them, and the wait ends when any of them is closed.
 */
#ifndef DLOCK_CORE_MULTI_WAIT_H
#define DLOCK_CORE_MULTI_WAIT_H

#include <dlock/backend.h>
#include <stddef.h>

/* One wait, as one of its clients knows it. */
struct dlki_multi_wait {
	/* Constant while it is under way. */
	struct dlock_client *client;
	dlock_lock *lock;

	/* Under the client's mu. */
	struct dlki_multi_wait *next, **link;
	int pinned; /* the one that closes is cancelling it */
};

/*
 * Begin a wait for `lock`, whose clients are v[i].client, each once.  On
 * EFORKED, and on ECANCELED, when one of them is closed, nothing has begun.
 */
int dlki_multi_wait_begin(struct dlki_multi_wait v[], size_t n,
			  dlock_lock *lock, struct dlk_error *err);

/* End the wait: nothing refers to `lock` afterwards. */
void dlki_multi_wait_end(struct dlki_multi_wait v[], size_t n);

/* Cancel all waits of a client that is closing.  With its mu held, which is
 * released meanwhile. */
void dlki_multi_wait_cancel(struct dlock_client *client);

#endif
