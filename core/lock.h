/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: a program's references to a lock, which is a record or a multi-lock.
 */
#ifndef DLOCK_CORE_LOCK_H
#define DLOCK_CORE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/record.h"

struct dlki_multi;

struct dlock_lock {
	struct dlki_record *record;   /* NULL: a multi-lock */
	union {
		struct dlki_multi *multi;
		struct dlki_claim_list waits; /* under the client's mu */
	};
	_Atomic uint64_t cancels;     /* number of dlock_cancel() calls */
	_Atomic uint64_t answered;    /* of them have ended a wait, if sticky */
	bool sticky;                  /* a cancel waits for a wait to end */
	bool has_read_side;
	bool reads;                   /* acquires take the read side */
	bool unbound;                 /* the holds belong to no thread */
};

static inline bool dlki_lock_is_multi(const dlock_lock *lock)
{
	return !lock->record;
}

/* The body of dlock_mutex_new(). */
int dlki_mutex_new(dlock_lock **out, dlock_client *client, const char *name,
		   struct dlk_error *err);

/* 0, or EINVAL: the lock is NULL, or has no read side to take. */
int dlki_lock_check(const dlock_lock *lock, int reads, struct dlk_error *err);

/* 0, or ENOTSUP: the client's store has not `what`, which is the capability. */
int dlki_lock_needs(const dlock_client *client, uint32_t cap, const char *what,
		    struct dlk_error *err);

/* The rest is for handles of single locks. */

/* The side for dlock_acquire(). */
enum dlk_mode dlki_lock_mode(const dlock_lock *lock);

/* The thread of a hold that is acquired now: this thread, or DLKI_NO_THREAD. */
static inline uint64_t dlki_lock_thread(const dlock_lock *lock)
{
	return lock->unbound ? DLKI_NO_THREAD : dlki_thread_serial();
}

/* A second handle on the record of `lock`. */
int dlki_lock_clone(dlock_lock **out, const dlock_lock *lock,
		    struct dlk_error *err);
void dlki_lock_free(dlock_lock *lock);
void dlki_lock_cancel(dlock_lock *lock);

#endif
