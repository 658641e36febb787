/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that concern several clients: the one of a multi-lock stands at one of
 * them, and ends when any of them is closed.
 */
#ifndef DLOCK_CORE_JOINT_H
#define DLOCK_CORE_JOINT_H

#include <dlock/backend.h>
#include <stddef.h>

/* One wait, as one of its clients knows it. */
struct dlki_joint {
	/* Constant while it is under way. */
	struct dlock_client *client;
	dlock_lock *lock;

	/* Under the client's mu. */
	struct dlki_joint *next, **link;
	int pinned; /* the one that closes is cancelling it */
};

/*
 * A wait for `lock` begins, of which v[i].client are the clients, each once.
 * EFORKED, or ECANCELED: one of them is closed; then nothing has begun.
 */
int dlki_joint_begin(struct dlki_joint v[], size_t n, dlock_lock *lock,
		     struct dlk_error *err);

/* It is over: nobody refers to `lock` any more. */
void dlki_joint_end(struct dlki_joint v[], size_t n);

/* With mu held, which is given up meanwhile, of a client that is closing:
 * cancel them all. */
void dlki_joint_cancel(struct dlock_client *client);

#endif
