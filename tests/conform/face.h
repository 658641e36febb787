/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of dlock that a run of the suite looks at.  A case that acquires and
 * releases by the functions below runs over either face:
 *
 *   blocking  the calls that wait
 *   async     each call is begun.  A thread polls the client's descriptor and
 *             processes one completion at a time, until the call has ended.
 *             All handles are unbound.
 */
#ifndef DLOCK_TESTS_CONFORM_FACE_H
#define DLOCK_TESTS_CONFORM_FACE_H

#include <dlock/dlock.h>

/* Does $CONFORM_FACE say "async"? */
int face_is_async(void);

/* Why a case is not run over the face of this run; NULL: it is. */
const char *face_excepts(const char *name);

/* A handle that a case has made; it is unbound if need be.  A multi-lock has
 * the client of its `first` member, which is NULL for any other handle. */
void face_knows(dlock_lock *lock, dlock_client *client,
		const dlock_lock *first);

/* As the functions of dlock.h with these names. */
int acquire(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out);
int acquire_shared(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out);
int acquire_opts(dlock_lock *lock, const dlock_acquire_options *options,
		 dlock_hold **out);
int release(dlock_hold *hold);

/* dlock_upgrade() over either face: it has no other form. */
int upgrade_by(dlock_lock *lock, dlock_hold *upgradeable, int64_t timeout_ms,
	       dlock_hold **out);
void close_face(dlock_client *client);

/* dlock_errmsg() after one of these. */
const char *face_errmsg(void);

#endif
