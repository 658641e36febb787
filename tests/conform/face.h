/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of dlock under test. A case that acquires and releases by the
 * functions below runs over either face:
 *
 * blocking: the calls wait.
 *
 * async: each call is asynchronous. A thread polls the client's descriptor and
 * processes a completion at a time until the call has ended. All handles are
 * unbound.
 *
 * no-threads: as blocking, with clients without threads. A thread of the
 * program for each client polls and processes.
 */
#ifndef DLOCK_TESTS_CONFORM_FACE_H
#define DLOCK_TESTS_CONFORM_FACE_H

#include <dlock/dlock.h>

/* Is $CONFORM_FACE this, or "blocking" by default? */
int face_is(const char *name);
int face_is_async(void);

/* Whether a face has this name. */
int face_exists(const char *name);

/* dlock_open(), and dlock_close(). */
void face_open(dlock_client **out, const char *uri, const dlock_options *opts);
void close_face(dlock_client *client);

/* Return why the case does not run over this face, or NULL. */
const char *face_excepts(const char *name);

/* Register a handle, and unbind the handle if need be. A multi-lock has the
 * client of the member `first`, which is NULL for any other handle. */
void face_knows(dlock_lock *lock, dlock_client *client,
		const dlock_lock *first);

/* As the functions of dlock.h with these names. */
int acquire(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out);
int acquire_shared(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out);
int acquire_opts(dlock_lock *lock, const dlock_acquire_options *options,
		 dlock_hold **out);
int release(dlock_hold *hold);

/* dlock_upgrade() over either face. */
int upgrade_by(dlock_lock *lock, dlock_hold *upgradeable, int64_t timeout_ms,
	       dlock_hold **out);

/* dlock_errmsg() after any of these functions. */
const char *face_errmsg(void);

#endif
