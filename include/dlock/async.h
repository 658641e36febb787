/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock without waiting: for programs with an event loop, and for programs
 * that wait for very many locks.
 *
 *     static void granted(int rc, dlock_hold *hold, void *arg)
 *     {
 *             if (rc == DLOCK_OK)
 *                     start_billing(arg, hold);
 *             else
 *                     complain(dlock_errmsg());
 *     }
 *
 *     dlock_acquire_async(lock, 5000, granted, arg, NULL);
 *
 * An asynchronous call is an acquire or a release that no thread waits for.
 *
 * CALLBACKS
 *  - The callback of an asynchronous call comes once, whatever happens: when
 *    the lock is granted or refused, when the time is over, when the call is
 *    cancelled, and when the client is closed.
 *  - The function that begins the asynchronous call never calls it.  The
 *    thread for callbacks may call it before that function has returned.
 *  - Callbacks come in the order in which their calls ended.
 *  - One callback of a client runs at a time, on_event included.  By default
 *    that is on the thread "dlock-deliver", which all clients of the process
 *    share.  With dlock_options.own_loop it is in dlock_dispatch(), on a thread
 *    of the program.
 *  - A callback may call anything except dlock_close() of its own client.  In
 *    it, dlock_errmsg() tells why the call failed.
 *  - on_event is not called for a hold before the callback that hands out the
 *    hold.
 *
 * Holds that are acquired here belong to no thread, as if the handle were
 * unbound: see dlock_lock_unbind().  So an asynchronous acquire is never
 * re-entrant.  However many are pending, the client has one thread for
 * them.  It sends their requests one after the other, and they wait in the
 * store's wait queue as threads do.
 */
#ifndef DLOCK_ASYNC_H
#define DLOCK_ASYNC_H

#include <dlock/dlock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dlock_async dlock_async; /* an asynchronous call */

/*
 * The asynchronous call is over.  `rc` and dlock_errmsg() are what
 * dlock_acquire() or dlock_release() would have left.  After an acquire that
 * returned DLOCK_OK, `hold` is the program's; else it is NULL.  The hold may
 * have been lost by now: dlock_check() tells.
 */
typedef void (*dlock_done_fn)(int rc, dlock_hold *hold, void *arg);

/*
 * Ask for the lock, and return at once.  `done` gets what dlock_acquire()
 * would return.  Do not free `lock` before that.
 *
 * If this returns an error, `done` is not called:
 *
 *   EINVAL     an argument
 *   ENOTSUP    a multi-lock
 *   ECANCELED  the client is closed
 *   EEXHAUSTED there can be no thread for it
 *
 * `out` may be NULL.  Else `*out` is for dlock_async_cancel(), and must be
 * freed with dlock_async_free().
 */
DLOCK_API DLOCK_NODISCARD int dlock_acquire_async(dlock_lock *lock,
						  int64_t timeout_ms,
						  dlock_done_fn done, void *arg,
						  dlock_async **out);

/* As dlock_acquire_async(), for the read side.  EINVAL if not a read-write
 * lock. */
DLOCK_API DLOCK_NODISCARD int
dlock_acquire_shared_async(dlock_lock *lock, int64_t timeout_ms,
			   dlock_done_fn done, void *arg, dlock_async **out);

/*
 * End one asynchronous acquire with ECANCELED.  Does nothing if it is
 * over.  It may be granted in that instant: only its callback says how it
 * ended.  Never waits.  dlock_cancel() ends all waits of a handle,
 * asynchronous ones as well.
 */
DLOCK_API void dlock_async_cancel(dlock_async *call);

/* The program needs the handle no more; the call itself goes on.  May be called
 * in the callback, and after dlock_close().  NULL is a no-op. */
DLOCK_API void dlock_async_free(dlock_async *call);

/*
 * Undo one acquire, and return at once.  `done`, which may be NULL, gets what
 * dlock_release() would return.  The hold has ended when this returns
 * DLOCK_OK: the program may not use it any more.
 *
 *   EINVAL   hold is NULL, or is another thread's; ENOTSUP for a multi-lock
 *   ENOMEM, EEXHAUSTED  the hold has not ended
 */
DLOCK_API DLOCK_NODISCARD int dlock_release_async(dlock_hold *hold,
						  dlock_done_fn done,
						  void *arg);

/*
 * A descriptor that polls readable while callbacks are due, for a client that
 * was opened with dlock_options.own_loop.  The same one until dlock_close(),
 * which closes it; do not read it.  EINVAL without own_loop.
 */
DLOCK_API int dlock_fd(dlock_client *client);

/*
 * Call the callbacks that are due, and return; DLOCK_OK also if there are
 * none.  Those that become due meanwhile are left to the next call.  If another
 * thread is in this function, waits for it.  In a callback of the client, does
 * nothing.  EINVAL without own_loop.
 *
 * dlock_close() calls the callbacks of the calls that are left.
 */
DLOCK_API int dlock_dispatch(dlock_client *client);

#ifdef __cplusplus
}
#endif
#endif
