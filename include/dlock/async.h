/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock without waiting: for programs with an event loop, and for programs
 * that wait for very many locks.
 *
 *     static void granted(const struct dlock_result *r, void *job)
 *     {
 *             if (r->code == DLOCK_OK)
 *                     begin(job, r->hold);
 *             else
 *                     give_up(job, r->message);
 *     }
 *
 *     dlock_acquire_start(lock, 5000, granted, job, NULL);
 *     ...
 *     watch(loop, dlock_client_fd(client), READABLE);
 *     ...
 *     on_readable: dlock_process(client, 0);
 *
 * A function with a name in _start begins an operation and returns at once.
 * The operation ends with the call of the callback.
 *
 * CALLBACKS
 *  - The callback of an operation that was begun comes exactly once, whatever
 *    happens.  After an error of the _start function it never comes.
 *  - Callbacks come in dlock_process() and dlock_wait() alone, with no lock of
 *    dlock held; and in dlock_close(), which calls the callbacks that are left.
 *    So one callback of a client runs at a time.
 *  - Callbacks come in the order in which their operations ended.
 *  - A callback may call anything of dlock, dlock_lock_free() and
 *    dlock_close_start() included.  But dlock_process() and dlock_wait() of the
 *    same client return EDEADLK, and dlock_close() of the client has no effect.
 *  - on_event is not called for a hold before the callback that hands it out
 *    has returned.
 *
 * By default dlock's own threads move bytes and renew leases, so a loop that
 * stalls loses no lock.  Functions that wait may be used beside these.
 *
 * WITHOUT THREADS
 *  A client with `no_threads` in dlock_options has no thread of dlock's.
 *  Threads of the program renew the client's leases and hear of the store's
 *  news: in dlock_process() and dlock_wait(), and while they wait in another
 *  function of the client.
 *
 *  - Call dlock_process() when the descriptor is readable, or dlock_due_ms() is
 *    over.  A hold that was not renewed in time is lost; DLOCK_LOST comes with
 *    the next dlock_process().
 *  - dlock_process() waits for the store's answer, as dlock's threads do
 *    otherwise; dlock_open_start() and dlock_close_start() do their work there,
 *    and names are looked up.  It returns after a request, or a batch, so that
 *    the program's other work has a turn.
 *  - on_event and on_log come as after dlock_events_by_process().
 *  - A thread that waits in a function of another client renews nothing of this
 *    client, and so in a multi-lock.
 */
#ifndef DLOCK_ASYNC_H
#define DLOCK_ASYNC_H

#include <dlock/dlock.h>

/* For the headers of loops, in C and C++. */
#ifdef __cplusplus
#define DLOCK_CAST(type, pointer) reinterpret_cast<type>(pointer)
extern "C" {
#else
#define DLOCK_CAST(type, pointer) ((type)(pointer))
#endif

/* An operation under way; 0 is no number.  A number is never used again, so
 * that an old one is harmless. */
typedef uint64_t dlock_op;

/* How an operation ended.  Borrowed for the call of the callback. */
struct dlock_result {
	size_t size;
	int code;             /* DLOCK_OK or a DLOCK_E code */
	dlock_client *client; /* of the operation */
	dlock_hold *hold;     /* the program's, after an acquire that ended with
			       * DLOCK_OK; else NULL.  It may have been lost by
			       * now: dlock_check() tells */
	const char *message;  /* the text of dlock_errmsg(); never NULL */
};

typedef void (*dlock_done_fn)(const struct dlock_result *result, void *arg);

/* ---- Operations ---------------------------------------------------------- */

/*
 * Ask for the lock.  `done` gets the code that dlock_acquire() would return.
 * `op`, which may be NULL, is set to the number for dlock_cancel_op().  Do not
 * free `lock` before the callback.
 *
 * A multi-lock's operation is of the client of the member that was named first.
 *
 *   EINVAL     an argument; or a mutex or read-write lock, also as a member,
 *              with a handle that is not unbound: see dlock_lock_unbind()
 *   ECANCELED  a client of it is closed
 *   EEXHAUSTED there can be no thread for it
 */
DLOCK_API DLOCK_NODISCARD int dlock_acquire_start(dlock_lock *lock,
						  int64_t timeout_ms,
						  dlock_done_fn done, void *arg,
						  dlock_op *op);

/* As dlock_acquire_start(), for the read side.  EINVAL if not a read-write
 * lock. */
DLOCK_API DLOCK_NODISCARD int
dlock_acquire_shared_start(dlock_lock *lock, int64_t timeout_ms,
			   dlock_done_fn done, void *arg, dlock_op *op);

/* As dlock_acquire_opts() to dlock_acquire().  The options are copied. */
DLOCK_API DLOCK_NODISCARD int
dlock_acquire_opts_start(dlock_lock *lock, const dlock_acquire_options *opts,
			 dlock_done_fn done, void *arg, dlock_op *op);

/*
 * As dlock_upgrade().  `done` gets the hold of the write side.  Do not free
 * `lock` before the callback; the last release of `upgradeable` is refused
 * until then, unless dlock_cancel_op() has ended the wait: see
 * dlock_release_start().
 *
 *   EINVAL     an argument; or a handle that is not unbound, that is, made from
 *              a handle that was not: see dlock_lock_unbind()
 *   ELOST      `upgradeable` was lost
 *   ECANCELED, EEXHAUSTED  as for dlock_acquire_start()
 */
DLOCK_API DLOCK_NODISCARD int
dlock_upgrade_start(dlock_lock *lock, dlock_hold *upgradeable,
		    int64_t timeout_ms, dlock_done_fn done, void *arg,
		    dlock_op *op);

/*
 * Undo one acquire.  After DLOCK_OK the hold has ended, and the program may not
 * use it any more.  `done` gets the code that dlock_release() would return:
 * when it comes, others can have the lock.  Without `done`, which may be NULL,
 * the result is dropped, and dlock_pending() does not count the release.
 *
 * The last release of an upgradeable hold waits until a release of the write
 * side has ended, and an upgrade that was cancelled by dlock_cancel_op(): if
 * that is granted all the same, and the callback has not begun, it is released,
 * and ends with ECANCELED.
 *
 *   EINVAL   hold is NULL, or another thread's; or the write side that
 *            dlock_upgrade_start() added comes first
 *   ECANCELED, ENOMEM, EEXHAUSTED  the hold has not ended; dlock_release() ends
 *            it
 */
DLOCK_API DLOCK_NODISCARD int dlock_release_start(dlock_hold *hold,
						  dlock_done_fn done,
						  void *arg);

/* As dlock_inspect().  `each`, which gets `arg` as well, is called immediately
 * before `done`. */
DLOCK_API DLOCK_NODISCARD int
dlock_inspect_start(dlock_lock *lock,
		    void (*each)(const struct dlock_participant *p, void *arg),
		    int64_t timeout_ms, dlock_done_fn done, void *arg);

/* As dlock_break(). */
DLOCK_API DLOCK_NODISCARD int dlock_break_start(dlock_lock *lock,
						int64_t timeout_ms,
						dlock_done_fn done, void *arg);

/*
 * End an acquire: the callback comes soon, with ECANCELED, or with OK if the
 * grant was first.  Never waits.
 *
 *   EINVAL  no acquire has this number, or the callback has begun
 */
DLOCK_API int dlock_cancel_op(dlock_client *client, dlock_op op);

/* How many callbacks of operations are still to come. */
DLOCK_API size_t dlock_pending(const dlock_client *client);

/* ---- The loop ------------------------------------------------------------ */

/*
 * A descriptor of any client, for the program's loop: it polls readable when
 * dlock_process() has work.  It is the same until the client is closed.  Poll
 * it level- or edge-triggered; never read or close it. < 0 is an error code.
 */
DLOCK_API int dlock_client_fd(dlock_client *client);

/*
 * Call the callbacks that are due: at most `most`, or if that is <= 0, as many
 * as were due when it began.  Does not wait, but see WITHOUT THREADS.  > 0:
 * more are due, call again; 0: none.  Any thread may call it.
 *
 *   EDEADLK  in a callback of this client
 *   EBUSY    another thread is in it, and does the work
 */
DLOCK_API int dlock_process(dlock_client *client, int most);

/* Wait until a callback is due, and process it: for programs without a loop.
 * DLOCK_OK if a callback was called, or dlock_nudge(); EBUSY if no callback
 * came in time; ECANCELED if another thread closes the client; EDEADLK as
 * above. */
DLOCK_API int dlock_wait(dlock_client *client, int64_t timeout_ms);

/* For loops that cannot poll, and ask at each tick: 0 if dlock_process() has
 * work, -1 if it has no work before an event; of a client without threads also
 * the time until it has work. */
DLOCK_API int64_t dlock_due_ms(const dlock_client *client);

/* Make the descriptor readable once; ends a dlock_wait().  From any thread, and
 * async-signal-safe. */
DLOCK_API int dlock_nudge(dlock_client *client);

/* From now on on_event and on_log are called in dlock_process(), and not on a
 * thread of dlock.  An on_event that runs has returned before this does, unless
 * it is the caller.  May be called before a client is open. */
DLOCK_API int dlock_events_by_process(dlock_client *client);

/* ---- Opening and closing ------------------------------------------------- */

/*
 * Open a store, as dlock_open() does.  `*out` is set at once, for the functions
 * of the loop and for closing; all others need `done` first, with DLOCK_OK.
 * After any other code the client still is to be closed.
 *
 *   EINVAL, ENOTSUP  no client: the error can be told without the store
 *   EEXHAUSTED       no client: there can be no thread or descriptor for it
 */
DLOCK_API DLOCK_NODISCARD int dlock_open_start(const char *uri,
					       const dlock_options *opts,
					       dlock_client **out,
					       dlock_done_fn done, void *arg);

/*
 * Close the client, as dlock_close() does, without waiting.  The callbacks that
 * are pending come first, in dlock_process(), with ECANCELED unless they ended
 * before; then `done`, which may be NULL.  When `done` returns, the client and
 * its descriptor are gone: take the descriptor out of your loop in `done`.  In
 * a callback, the closing begins when the callback's dlock_process() ends.
 *
 *   ECANCELED  the client is being closed already
 *   EEXHAUSTED there can be no thread for it; the client is unchanged
 */
DLOCK_API DLOCK_NODISCARD int dlock_close_start(dlock_client *client,
						dlock_done_fn done, void *arg);

#ifdef __cplusplus
}
#endif
#endif
