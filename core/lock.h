/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks: a record for each kind and name that a client uses, shared by all its
 * handles, so that threads with handles of their own meet; and the handles.
 */
#ifndef DLOCK_CORE_LOCK_H
#define DLOCK_CORE_LOCK_H

#include "core/claim.h"

struct dlki_multi;

struct dlki_record {
	struct dlock_client *client;
	char key[DLKI_KEY_SIZE];      /* of kind and name: orders the tree */
	enum dlk_kind kind;
	uint32_t limit;               /* of a semaphore, else 0 */
	uint64_t refs;                /* under mu: handles and claims */
	struct dlki_claim *held;  /* under mu: HELD, or LOST and not released */
	char name[];
};

struct dlock_lock {
	struct dlki_record *record;   /* NULL: a multi-lock */
	struct dlki_multi *multi;
	struct dlki_claim *waits;     /* under the client's mu */
	_Atomic uint64_t cancels;     /* number of dlock_cancel() calls */
};

/* Drop a reference, with mu held. */
void dlki_record_unref(struct dlki_record *record);

/* What messages call it: "mutex 'billing'". */
const char *dlki_kind_name(enum dlk_kind kind);

/* A second handle on the record of `lock`. */
int dlki_lock_clone(dlock_lock **out, const dlock_lock *lock,
		    struct dlk_error *err);

#endif
