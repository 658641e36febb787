/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that concern several clients: a multi-lock waits for a member of a
 * single client, and the wait ends when any client is closed.
 */
#ifndef DLOCK_CORE_MULTI_WAIT_H
#define DLOCK_CORE_MULTI_WAIT_H

#include <dlock/backend.h>
#include <stddef.h>
#include <sys/queue.h>

/* A wait, as known to a client. */
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
