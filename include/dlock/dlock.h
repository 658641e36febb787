/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock - one interface to distributed locks.
 *
 * A program opens a store by URI and takes named locks in it.  Moving from one
 * store to another is a change of URI, never of code:
 *
 *     dlock_client *c;
 *     dlock_lock *l;
 *     dlock_hold *h;
 *
 *     if (dlock_open(&c, getenv("DLOCK_URI"), NULL) < 0 ||
 *         dlock_mutex_new(&l, c, "billing/nightly") < 0)
 *             die(dlock_errmsg());
 *     if (dlock_acquire(l, 5000, &h) == DLOCK_OK) {
 *             run_billing(dlock_token(h));
 *             dlock_release(h);
 *     }
 *
 *     mem:                                     this process only
 *     file:///var/lock/app                     this host
 *     zk://h1,h2,h3:2181/locks?ttl=15s         a ZooKeeper ensemble
 *     redis://h:6379/0?ttl=30s                 a Redis or Valkey server
 *     rediss://h:6380/0?ttl=30s                ... over TLS
 *     memcached://h:11211/?ttl=30s             a memcached server
 *     memcacheds://h:11211/?ttl=30s            ... over TLS
 *
 * CAVEATS
 *  - A lock in another machine's memory can be lost while you hold it: the
 *    holder pauses, the network partitions, the store restarts.  dlock tells
 *    you (on_event, dlock_check, dlock_hold_fd) but cannot stop you.  Use the
 *    token to guard, at the resource, an action that must never happen twice:
 *    see dlock_token().
 *  - Stores differ.  Name your needs in dlock_options.require, and dlock_open()
 *    refuses a store that cannot meet them.
 *  - A client does not survive fork(): in the child every call on the client
 *    returns EFORKED and does no I/O.  Open a new client there.
 *
 * CONVENTIONS
 *  - int functions return DLOCK_OK (0) or a negative DLOCK_E code.  Each lists
 *    the codes worth testing for; any may also return ENOMEM, ESYSTEM, EPROTO.
 *  - `out` is owned by the caller and is set only on success.
 *  - Names ending in _ms are milliseconds.  timeout_ms: DLOCK_FOREVER waits for
 *    ever, 0 asks once; any other negative number is EINVAL, because it is most
 *    often a difference of two times.  A call returns by the timeout plus the
 *    `ask` time, whatever the store does.  The URI can give the `ask` time;
 *    otherwise it follows the store's round trips, from 40 ms for a near store
 *    to 1 s.  A try on ZooKeeper that makes nodes, or meets other tries, may
 *    take longer: see docs/zookeeper.md.
 *  - Strings are UTF-8.  The library copies them, unless a comment says
 *    "borrowed".
 *  - Any thread may call any function unless the comment on the function says
 *    otherwise.  No function is a cancellation point; all keep errno.
 *  - Set the `size` member of a struct to sizeof of the struct, so that old
 *    programs work with newer libraries.
 */
#ifndef DLOCK_DLOCK_H
#define DLOCK_DLOCK_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && __GNUC__ >= 4
#define DLOCK_API __attribute__((visibility("default")))
#define DLOCK_NODISCARD __attribute__((warn_unused_result))
#define DLOCK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define DLOCK_API
#define DLOCK_NODISCARD
#define DLOCK_PRINTF(f, a)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DLOCK_VERSION_MAJOR 0
#define DLOCK_VERSION_MINOR 1
#define DLOCK_VERSION_PATCH 0

/* Every code once: number, name and text come from this list. */
#define DLOCK_ERRORS(X)                                                       \
	X(EBUSY,        -1, "held by others until the deadline")              \
	X(EUNREACHABLE, -2, "the store gave no answer by the deadline")       \
	X(ECANCELED,    -3, "the wait was cancelled")                         \
	X(ELOST,        -4, "the lock was lost while it was held")            \
	X(EDEADLK,      -5, "this thread would wait for itself")              \
	X(EINVAL,       -6, "invalid argument")                               \
	X(ENOTSUP,      -7, "this store cannot do that")                      \
	X(EDENIED,      -8, "the store refused the credentials")              \
	X(EEXHAUSTED,   -9, "a limit of the store or of this process")        \
	X(EPROTO,      -10, "dlock does not understand the store's answer")   \
	X(EFORKED,     -11, "the client belongs to the parent process")       \
	X(ENOMEM,      -12, "out of memory")                                  \
	X(ESYSTEM,     -13, "a system call failed")

#define DLOCK_FOREVER (-1) /* a timeout_ms that has no end */

enum dlock_error_code {
	DLOCK_OK = 0,
#define X(name, value, text) DLOCK_##name = (value),
	DLOCK_ERRORS(X)
#undef X
};

/* The promises of a store; dlock_caps() reports them, `require` demands them.
 * The conformance suite tests every bit that a backend declares. */
enum {
	DLOCK_CAP_REMOTE     = 1 << 0, /* excludes holders on other hosts */
	DLOCK_CAP_SHARED     = 1 << 1, /* read-write locks */
	DLOCK_CAP_COUNT      = 1 << 2, /* semaphores */
	DLOCK_CAP_FENCE      = 1 << 3, /* tokens rise while the store keeps
					* state */
	DLOCK_CAP_FENCE_DURABLE = 1 << 4, /* ... and across restarts of the
					   * store */
	DLOCK_CAP_FAIR       = 1 << 5, /* grants in order of asking */
	DLOCK_CAP_WAKE       = 1 << 6, /* a release wakes a waiter, no poll */
	DLOCK_CAP_EXPIRE     = 1 << 7, /* a dead holder's lock comes free */
	DLOCK_CAP_DURABLE    = 1 << 8, /* a hold survives the store's restart */
	DLOCK_CAP_CONSISTENT = 1 << 9, /* no two promise intervals overlap, even
					* across the store's own fail-over */
	DLOCK_CAP_INSPECT    = 1 << 10, /* reports holders, with FAIR also
					 * waiters */
	DLOCK_CAP_LIST       = 1 << 11, /* can list the locks in the store */
	DLOCK_CAP_WANTED     = 1 << 12, /* tells a client that others ask for a
					 * lock, so that the client may keep the
					 * lock and pass it among threads */
	DLOCK_CAP_RESIZE     = 1 << 13, /* dlock_semaphore_resize() */
	DLOCK_CAP_PERMITS    = 1 << 14, /* several permits at once */
	DLOCK_CAP_UPGRADE    = 1 << 15, /* dlock_upgradeable_new() */
	DLOCK_CAP_REVOKE_PERMITS = 1 << 16, /* dlock_revoke() of a semaphore */
	DLOCK_CAP_NO_THREADS = 1 << 17 /* dlock_options.no_threads */
};

/* Return the name of a bit, "FENCE", or NULL: for tables and messages. */
DLOCK_API const char *dlock_cap_name(uint32_t bit);

typedef struct dlock_client dlock_client; /* a connection to one store */
typedef struct dlock_lock dlock_lock;     /* a named lock in a store */
typedef struct dlock_hold dlock_hold;     /* a lock while we hold it */

enum dlock_event {
	DLOCK_AT_RISK, /* renewals fail; the lease has not run out yet */
	DLOCK_SAFE,    /* renewed again after AT_RISK */
	DLOCK_LOST,    /* final; at most once per hold; after the release only
			* with release=async, see dlock_release() */
	DLOCK_WANTED,  /* others ask for the lock: see dlock_revocable() */
	DLOCK_UNCONFIRMED /* release=async: see dlock_release() */
};

/*
 * Called on the thread "dlock-deliver", which all clients of the process share,
 * or in dlock_process() after dlock_events_by_process(), with no dlock lock
 * held.  A slow callback delays only the callbacks, of all clients.  May call
 * anything except dlock_lock_free(), and dlock_close() of the client that calls
 * back.  `why` is borrowed for the call.
 *
 * dlock_release() waits for a running callback about the hold, unless the
 * callback itself calls dlock_release().  So `hold` is valid for the whole
 * call, and you must not release while you own a mutex that the callback takes.
 */
typedef void (*dlock_event_fn)(dlock_hold *hold, enum dlock_event event,
			       const char *why, void *arg);

/* A line of the log, with fields for programs that log in JSON or the like.
 * Borrowed for the call.  Contains no secret. */
struct dlock_log_line {
	size_t size;
	int level;         /* 0 error, 1 warning, 2 info, 3 debug */
	int code;          /* the DLOCK_E code of the event, or 0 */
	const char *text;  /* a sentence; need not repeat the rest */
	const char *lock;  /* name of the lock concerned, or NULL */
	const char *label; /* of the client */
	const char *uri;   /* of the store, as from dlock_uri() */
};

/* Called from any thread, a line at a time, in order; or in dlock_process()
 * after dlock_events_by_process().  Must not call dlock, nor wait for a thread
 * that does. */
typedef void (*dlock_log_fn)(const struct dlock_log_line *line, void *arg);

/*
 * Options that a URI cannot hold.  Start from DLOCK_OPTIONS_INIT.  New members
 * are only added at the end, and `size` tells the library which members you
 * know.
 */
typedef struct dlock_options {
	size_t size;
	uint32_t require;        /* DLOCK_CAP_ bits the store must have */
	const char *label;       /* the label that dlock_inspect() shows; NULL:
				  * host:pid.  Any bytes: a program that prints
				  * a label escapes them.  A store keeps the
				  * first 63 bytes, or more, less a UTF-8
				  * character that would be cut */
	dlock_event_fn on_event; /* may be NULL */
	dlock_log_fn on_log;     /* may be NULL: silent */
	void *arg;               /* passed to both */
	const char *password;    /* used if the URI has none; may be NULL */
	int once;                /* dlock_open() asks an absent store only once,
				  * see there */
	int no_threads;          /* the client has no thread of dlock's, and
				  * needs dlock_process(): see async.h.  ENOTSUP
				  * without DLOCK_CAP_NO_THREADS */
} dlock_options;

#define DLOCK_OPTIONS_INIT                                                    \
	{ sizeof(dlock_options), 0, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/*
 * Open the store at `uri`.  Does not return before the store has answered.
 * While the server refuses connections, or does not serve yet, tries again
 * until the URI's `connect` time is over; with opts->once, returns EUNREACHABLE
 * at once.  `opts` may be NULL.  Free with dlock_close().
 *
 *   EINVAL        no such scheme, unknown or ill-formed parameter
 *   ENOTSUP       the store lacks a capability in opts->require, or its
 *                 backend is not built in
 *   EUNREACHABLE  no answer within the URI's `connect` time (default 5s);
 *                 dlock_errmsg() says why, such as "Connection refused"
 *   EDENIED       wrong credentials
 *   EEXHAUSTED    a limit of the store or of this process, such as the number
 *                 of descriptors
 */
DLOCK_API DLOCK_NODISCARD int dlock_open(dlock_client **out, const char *uri,
					 const dlock_options *opts);

/*
 * Release all holds, cancel all waits, free the client.  Takes at most the
 * URI's `close` time (default 2s), plus the rest of a running callback.  NULL
 * is a no-op, and so is a client of the parent process.
 *
 * Call dlock_close() once, when no other thread is about to begin a call on the
 * client or on locks of the client; waits under way end with ECANCELED.
 * Remaining handles and holds still need their dlock_lock_free() and
 * dlock_release(): the holds have ended, and return ELOST.
 */
DLOCK_API void dlock_close(dlock_client *client);

/* The DLOCK_CAP_ bits of the opened store. */
DLOCK_API uint32_t dlock_caps(const dlock_client *client);

/* The lease that the store agreed to; 0 if holds do not expire. */
DLOCK_API int64_t dlock_ttl_ms(const dlock_client *client);

/* How long the lock of a dead holder may stay taken beyond the lease, because
 * the store rounds the lease up.  0 if holds do not expire. */
DLOCK_API int64_t dlock_linger_ms(const dlock_client *client);

/* The URI as the library read it, without the password.  Borrowed. */
DLOCK_API const char *dlock_uri(const dlock_client *client);

/*
 * Make a handle for the lock called `name`: 1 to 255 bytes of UTF-8 without
 * control characters, '/' allowed.  Does no I/O.  A mutex and a read-write lock
 * of the same name are the same lock, in any process: a mutex is the write
 * side.  A semaphore of the same name is another lock.  Threads may share a
 * handle, and then exclude each other.  Free with dlock_lock_free(), not while
 * waited for.
 *
 * mutex      a single holder; a thread that holds the mutex may take it again
 * rwlock     a single writer or many readers; re-entrant likewise.  The writer
 *            may also take the read side, and keep it when it releases the
 *            write side.  Other readers come in then at once on mem:, file: and
 *            redis:, and on zk: and memcached: when the writer releases the
 *            read side.  A reader that asks for the write side gets EDEADLK:
 *            dlock_upgradeable_new() is for such readers
 * semaphore  `permits` holders; every acquire takes a permit, and any thread
 *            may release it.  All users must name the same number of permits,
 *            unless dlock_semaphore_resize() has set another number
 *
 *   EINVAL   the name; or permits is 0, or not the number that others use
 *   ENOTSUP  the store has no locks of this kind
 */
DLOCK_API DLOCK_NODISCARD int dlock_mutex_new(dlock_lock **out,
					      dlock_client *client,
					      const char *name);
DLOCK_API DLOCK_NODISCARD int dlock_rwlock_new(dlock_lock **out,
					       dlock_client *client,
					       const char *name);
DLOCK_API DLOCK_NODISCARD int dlock_semaphore_new(dlock_lock **out,
						  dlock_client *client,
						  const char *name,
						  uint32_t permits);

/*
 * Have the holds of this handle belong to no thread: each acquire returns a new
 * hold, and any thread may release it.  For event loops, executors and
 * coroutines, where a task begins on one thread and ends on another.  A
 * property of the handle, not of the lock: a hold of this handle and a hold of
 * any other handle exclude each other, also within a thread.  So a thread that
 * acquires while it holds the lock waits for itself until the deadline.
 *
 * Call dlock_lock_unbind() before the first acquire.  Semaphores are unbound
 * anyway.  The members of a multi-lock are as their handles were in
 * dlock_multi_new().
 *
 *   EINVAL  lock is NULL or a multi-lock
 */
DLOCK_API DLOCK_NODISCARD int dlock_lock_unbind(dlock_lock *lock);

/*
 * Have dlock_acquire() of this handle take the read side, as
 * dlock_acquire_shared() does: for a member of a multi-lock, and for code that
 * knows only dlock_acquire().  A property of the handle, not of the lock:
 * another handle is for the write side.  Call dlock_lock_use_read_side() before
 * the first acquire.
 *
 *   EINVAL  lock is not a read-write lock
 */
DLOCK_API DLOCK_NODISCARD int dlock_lock_use_read_side(dlock_lock *lock);

/*
 * Have a dlock_cancel() of this handle that meets no wait end the next wait:
 * the wait returns ECANCELED at once, even if the lock is free.  So a thread
 * stops even if the order to stop comes after the thread looked at a flag and
 * before it waits.  The handle keeps a cancel, or several, until a wait, or all
 * waits under way, have ended with ECANCELED for it; a wait that is granted at
 * that moment leaves the cancel for the next wait.  A try, with timeout 0, is
 * no wait.  For handles of any kind, before the first acquire.
 *
 *   EINVAL  lock is NULL
 */
DLOCK_API DLOCK_NODISCARD int dlock_lock_sticky_cancel(dlock_lock *lock);

#define DLOCK_NAME_SIZE 256 /* the longest name, and the NUL */

enum {
	DLOCK_NAME_SAME,    /* the bytes are the name */
	DLOCK_NAME_ESCAPED, /* "%e:", and %xx for each byte outside printable
			     * ASCII, and for space and '%' */
	DLOCK_NAME_HASHED   /* "%h:" and the SHA-256 of the bytes in hex: the
			     * name would have been too long */
};

/*
 * Make a legal name of `len` bytes of any kind, 0 as well, and return
 * DLOCK_NAME_SAME, _ESCAPED or _HASHED.  Different bytes get different names,
 * as far as SHA-256 can tell; a legal name does not change, unless the name
 * begins with "%e:" or "%h:".  The rule is fixed: other programs, and later
 * versions, get the same name.
 *
 *   EINVAL  a NULL; `bytes` may be NULL if `len` is 0
 */
DLOCK_API DLOCK_NODISCARD int dlock_name_make(char out[DLOCK_NAME_SIZE],
					      const void *bytes, size_t len);

/*
 * Make a lock of many, from any mix of stores.  A multi-lock acquires all
 * members or no member under a single deadline, and releases in reverse.  It
 * has handles of its own: `members` may be freed at once.  Each acquire returns
 * a new hold, even if members are re-entrant; dlock_member() returns the
 * members' holds.  A multi-lock cannot be a member of another.  An acquire
 * takes the write side of a read-write member, unless
 * dlock_lock_use_read_side() was called.
 *
 * An acquire waits for a single member while it holds no other, then tries the
 * others.  If a try finds a member busy, the acquire gives back all members and
 * waits for the busy member first, as std::lock does (C++,
 * [thread.lock.algorithm]).  So an acquire takes part in no deadlock, in
 * whatever order others take the same locks.  An acquire has a place only in
 * the queue of the member it waits for: where all members are in demand all the
 * time, holders of single members may be faster again and again.
 *
 *   EINVAL  no members, a NULL, a multi-lock, or the same lock twice.  Where
 *           two URIs lead to the same lock, the wait of dlock_acquire() finds
 *           that
 */
DLOCK_API DLOCK_NODISCARD int dlock_multi_new(dlock_lock **out,
					      dlock_lock *const members[],
					      size_t count);

/*
 * Make a handle for the upgradeable read side of a read-write lock, for holders
 * that read and then may have to write.  One at a time has it, beside any
 * number of plain readers; it excludes other upgradeable readers and writers.
 * dlock_acquire() takes it, and dlock_upgrade() adds the write side.  `rwlock`
 * may be freed at once; the handle is unbound if that was.
 *
 * The handle is a multi-lock of the read side, member 0, and of a mutex,
 * member 1, that every upgradeable reader takes: "%u:" before the lock's name,
 * as dlock_name_make() makes that legal.  dlock_token() of a hold is that of
 * the read side.  Plain readers, writers and mutexes of the name never ask for
 * the second lock.
 *
 * A thread that has the lock without being the upgradeable reader, and acquires
 * this, gets EDEADLK: the upgradeable reader may be waiting for it.
 *
 *   EINVAL   not a read-write lock
 *   ENOTSUP  the store lacks DLOCK_CAP_UPGRADE
 */
DLOCK_API DLOCK_NODISCARD int dlock_upgradeable_new(dlock_lock **out,
						    dlock_lock *rwlock);

/* Free a handle.  Holds of the handle stay held; waits must have ended.  NULL
 * is a no-op. */
DLOCK_API void dlock_lock_free(dlock_lock *lock);

/*
 * Take the lock: a mutex, the write side of a read-write lock, a permit of a
 * semaphore, or every member of a multi-lock.  A re-entrant acquire returns the
 * same hold again; each acquire needs a release.
 *
 *   EBUSY         others held it until the deadline, or when the store last
 *                 answered this call; dlock_errmsg() names a holder, by label,
 *                 if the store reports holders in time
 *   EUNREACHABLE  the store did not answer by the deadline.  The caller holds
 *                 no claim, and dlock cleans up any claim that the call left in
 *                 the store
 *   ECANCELED     dlock_cancel() or dlock_close() ended the wait
 *   ELOST         this thread's earlier hold was lost; release it first.  Of a
 *                 multi-lock also: a member was lost before all were taken, and
 *                 the caller holds none
 *   EDEADLK       this thread holds the read side and asks for the write side
 *   EDENIED       the store refused the credentials
 *   EEXHAUSTED    a limit of the store or of this process, such as the number
 *                 of connections: see dlock_errmsg()
 *   EINVAL        the semaphore's other users name another number of permits,
 *                 and dlock_semaphore_resize() has set no number
 *
 * The caller owns `*out` until the last dlock_release() of `*out`.
 */
DLOCK_API DLOCK_NODISCARD int dlock_acquire(dlock_lock *lock,
					    int64_t timeout_ms,
					    dlock_hold **out);

/* As dlock_acquire(), for the read side.  EINVAL if not a read-write lock. */
DLOCK_API DLOCK_NODISCARD int dlock_acquire_shared(dlock_lock *lock,
						   int64_t timeout_ms,
						   dlock_hold **out);

/*
 * The options of an acquire.  Start from DLOCK_ACQUIRE_OPTIONS_INIT, which
 * waits for ever and leaves the rest to the client.  `size` is as in
 * dlock_options.
 */
typedef struct dlock_acquire_options {
	size_t size;
	int64_t timeout_ms;
	int shared;          /* the read side of a read-write lock */
	int64_t lease_ms;    /* the promise ends so long after the last renewal;
			      * 0: with the store's lease */
	int64_t max_hold_ms; /* the hold ends so long after its grant; 0: as
			      * max_hold= in the URI says */
	int no_renew;        /* the hold ends with its first lease */
	const char *label;   /* the label that dlock_inspect() shows; NULL: the
			      * client's.  UTF-8 without control characters */
	uint32_t permits;    /* of a semaphore, all or none; 0 is 1 */
} dlock_acquire_options;

#define DLOCK_ACQUIRE_OPTIONS_INIT                                            \
	{ sizeof(dlock_acquire_options), DLOCK_FOREVER, 0, 0, 0, 0, NULL, 0 }

/*
 * As dlock_acquire(), and dlock_acquire_shared(), with options for this hold.
 * `opts` may be NULL.
 *
 * A hold can end by itself, while the program still has it, in three ways.  The
 * hold is lost then, as any hold: LOST event, ELOST, dlock_hold_fd().  The
 * client gives the claim back at that moment, so that others get the lock
 * although the program has not released it.
 *
 * max_hold_ms  so long after the grant, however often the hold is renewed:
 *              against a program that hangs
 * lease_ms     at least 10, and at most the store's lease.  The client renews
 *              the hold each third of lease_ms, and the hold is lost if no
 *              renewal succeeds within lease_ms: the program learns sooner of
 *              an absent store
 * no_renew     lease_ms after the granted request was sent, be lease_ms shorter
 *              or longer than the store's lease; without lease_ms, with the
 *              store's lease
 *
 * The store keeps the same lease for every hold of the client, dlock_ttl_ms(),
 * and others see only this lease: if this process dies or is cut off, others
 * have the lock when the store's lease ends.  The client renews the store's
 * lease behind a hold that may last longer.  Where holds do not expire, a
 * lease_ms without no_renew has no effect.  On zk: the renewals ask the session
 * and not the server, and the session tells of an absent server when the
 * session's lease ends.
 *
 * A thread that holds the lock gets the same hold again if each option is left
 * out or equals the option of the hold.  For a multi-lock each member has the
 * options.
 * The client asks the store for a hold with lease_ms, max_hold_ms, no_renew or
 * label: it neither passes nor keeps such a hold.
 *
 * A hold of several permits has all of them, and the release gives all back.
 * Whatever order a store serves others in: later acquires of few permits do not
 * overtake an acquire of many.
 *
 *   EINVAL   an option out of range; lease_ms longer than the store's lease;
 *            no_renew without lease_ms where holds do not expire; this thread
 *            holds the lock with other options; permits of a lock other than a
 *            semaphore, more than the handle names, or more than there are
 *            since dlock_semaphore_resize()
 *   ENOTSUP  permits is more than 1, and the store lacks DLOCK_CAP_PERMITS
 */
DLOCK_API DLOCK_NODISCARD int
dlock_acquire_opts(dlock_lock *lock, const dlock_acquire_options *opts,
		   dlock_hold **out);

/*
 * Take the write side as well: `upgradeable` is a hold that this thread has
 * acquired with the handle `lock`, or that belongs to no thread.  Waits until
 * the plain readers have left; new readers wait behind the upgrade, and so do
 * writers that came before it.  From the acquire of `upgradeable` to the
 * release no other writer has the lock.
 *
 * `*out` is a second hold, of the write side: it has a token larger than the
 * token of `upgradeable`, a lease, and the options of `upgradeable`, with a
 * max_hold_ms that counts from this grant.  The release of `*out` leaves the
 * upgradeable read side, which can be upgraded again.  A thread that has the
 * write side gets the same hold again, also from dlock_acquire().
 *
 * Whatever this returns, `upgradeable` is held as before.  If it is lost while
 * the call waits, the call ends with ELOST.  dlock_cancel(lock) ends the wait.
 * Until the release of `*out` begins, and while a call waits, the last release
 * of `upgradeable` is refused with EINVAL.  If `upgradeable` is lost and `*out`
 * is not, the write side goes on to exclude all others.
 *
 *   EBUSY         plain readers held it until the deadline
 *   EUNREACHABLE  the store did not answer by the deadline.  The write side is
 *                 not held, and what the call may have left there is cleaned
 *                 up; until then the store may keep readers out
 *   ECANCELED, EDENIED, EEXHAUSTED  as for dlock_acquire()
 *   ELOST         `upgradeable`, or this thread's write side, was lost; release
 *                 it first
 *   EINVAL        not an upgradeable hold of this lock, or another thread's
 */
DLOCK_API DLOCK_NODISCARD int dlock_upgrade(dlock_lock *lock,
					    dlock_hold *upgradeable,
					    int64_t timeout_ms,
					    dlock_hold **out);

/*
 * Move the end of a hold that has max_hold_ms, no_renew, or the URI's max_hold:
 * now the end is `ms` away, later or sooner than before.  Asks no store: if the
 * store's lease would end before, the client renews the lease in the
 * background.  Of a multi-lock's hold, the end of each member.
 *
 *   EINVAL  ms is not positive; or the hold has no such end
 *   ELOST   the end has come, or the hold was lost otherwise
 */
DLOCK_API DLOCK_NODISCARD int dlock_extend(dlock_hold *hold, int64_t ms);

/*
 * Undo one acquire; the last release frees `hold`.  The hold has ended whatever
 * dlock_release() returns, except on EINVAL and EFORKED.  An error only tells
 * you when other clients will be able to take the lock.  Waits for the store's
 * answer, at most the URI's `close` time.
 *
 *   ELOST         the hold had been lost: another holder may have interfered
 *                 with your work under it
 *   EUNREACHABLE  the store did not confirm; dlock keeps trying until the
 *                 lease has run out
 *   EINVAL        another thread acquired this mutex or read-write lock, and
 *                 only that thread may release it, see dlock_lock_unbind(); or
 *                 the write side that dlock_upgrade() added comes first.  The
 *                 hold is unchanged
 *
 * With release=async in the URI dlock_release() returns when the request is
 * sent.  The later answer is an event: DLOCK_LOST, the hold had been lost
 * before its release; DLOCK_UNCONFIRMED, the store did not confirm it.  `hold`
 * serves only to identify the hold: ask for the token, and do not release it
 * again.
 */
DLOCK_API int dlock_release(dlock_hold *hold);

/* End every wait under way on this handle with ECANCELED.  Leaves holds alone,
 * and later waits as well unless dlock_lock_sticky_cancel() was called.  A wait
 * that has sent a request gives the store the `ask` time to answer, and then
 * returns; dlock cleans up any claim that the request left in the store.  Not
 * for signal handlers: to end a wait on SIGTERM, block the signal, and call
 * dlock_cancel() in a thread that waits for the signal (sigwait(3)).
 */
DLOCK_API void dlock_cancel(dlock_lock *lock);

/*
 * Say whether the hold still stands: OK or ELOST.  Never blocks and never asks
 * the store.  OK: the lease has not run out at the instant of the call.  The
 * lease counts on this host's boot-time clock, from before the last request
 * that renewed it.  Async-signal-safe; leaves dlock_errmsg() alone.
 */
DLOCK_API int dlock_check(const dlock_hold *hold);

/*
 * Count how often this thread holds the lock: the acquires that it has yet to
 * release, through any handle of this client.  A lost hold does not count.
 * Never asks the store, so a lock that others hold is 0, too.
 *
 * mutex         the write side
 * rwlock        both sides
 * unbound       the client's holds that belong to no thread
 * semaphore     the permits of the client
 * multi-lock    the least of the members
 *
 * >= 0; or EINVAL, EFORKED.
 */
DLOCK_API int dlock_lock_held(dlock_lock *lock);

/* Return the time left on the lease, rounded down; 0 if lost, -1 if the hold
 * does not expire.  For a multi-lock: the least of the members. */
DLOCK_API int64_t dlock_remaining_ms(const dlock_hold *hold);

/*
 * Return how long before the hold's end you are warned at the earliest: while
 * the store answers every renewal in time, dlock_remaining_ms() stays above
 * this time.  The time changes with each renewal, so call dlock_warning_ms()
 * before dlock_remaining_ms().  If renewals fail, or max_hold or no_renew ends
 * the hold, the result is all time left; 0 if lost, -1 if the lease does not
 * expire.  For a multi-lock: the least of the members.
 */
DLOCK_API int64_t dlock_warning_ms(const dlock_hold *hold);

/*
 * Return the fencing token of this hold: larger than any token granted before
 * it to a conflicting holder of the same name, and the same for re-entrant
 * acquires.  Send it with every write, and let the resource refuse a token
 * smaller than any token it has seen.  0 if the store lacks DLOCK_CAP_FENCE,
 * and for a multi-lock, whose members have a token each: dlock_member().  An
 * upgradeable hold has the token of the read side.
 * After Burrows, "The Chubby lock service", OSDI 2006, section 2.4: sequencers.
 */
DLOCK_API uint64_t dlock_token(const dlock_hold *hold);

/* Return the hold of the multi-lock's member `i`, in the order given to
 * dlock_multi_new(); NULL past the end, and if `hold` is no multi-lock's.
 * Borrowed from `hold`: never release it. */
DLOCK_API dlock_hold *dlock_member(const dlock_hold *hold, size_t i);

/* Return a descriptor that polls readable once the hold is lost, for event
 * loops.  Owned by the hold; do not read or close it. < 0 is an error code. */
DLOCK_API int dlock_hold_fd(dlock_hold *hold);

/*
 * Ask for notice when others want the lock: when another client asks for it,
 * and when any client calls dlock_revoke().  Then on_event gets DLOCK_WANTED,
 * and dlock_wanted_fd() polls readable, once for each call of this function at
 * most; at once if others ask already.  The notice is a hint, and may come
 * needlessly.  The holder may release the lock soon, or later, or ignore the
 * hint.
 *
 * For a mutex, the write side of a read-write lock, and with
 * DLOCK_CAP_REVOKE_PERMITS for the hold of a semaphore: all holders of permits
 * are told of dlock_revoke(), and not when another client asks for a permit.
 * Of a multi-lock's hold, each member is told of by itself, without the members
 * of stores that cannot tell, unless all are.  After Curator's
 * InterProcessMutex.makeRevocable().
 *
 * With DLOCK_CAP_WANTED the store tells at once.  The client asks a memcached:
 * store at each renewal: after a third of the lease at most.
 *
 *   ENOTSUP       the store cannot tell, or the hold is of a read side or from
 *                 dlock_upgrade()
 *   ELOST         the hold was lost
 *   EUNREACHABLE  the store did not answer: no notice will come
 */
DLOCK_API DLOCK_NODISCARD int dlock_revocable(dlock_hold *hold);

/* Return a descriptor that polls readable once the hold was wanted, for event
 * loops; calls dlock_revocable() unless the program has.  Owned by the hold; do
 * not read or close it. < 0 is an error code: as there, and EINVAL for a
 * multi-lock: ask for the members' descriptors. */
DLOCK_API int dlock_wanted_fd(dlock_hold *hold);

/*
 * Ask the holders to give the lock up by themselves.  Holders that called
 * dlock_revocable() are told, in this client as well, and a client that keeps
 * the lock (keep= in the URI) releases it.  Does not wait for the release.
 * DLOCK_OK also if the lock is free, or if the holder does not listen.
 * After Curator's Revoker.attemptRevoke().
 *
 *   EINVAL   a multi-lock
 *   ENOTSUP  the store cannot tell a holder; of a semaphore, the store lacks
 *            DLOCK_CAP_REVOKE_PERMITS
 */
DLOCK_API DLOCK_NODISCARD int dlock_revoke(dlock_lock *lock,
					   int64_t timeout_ms);

/* A holder or a waiter.  Borrowed for the call of `each`. */
struct dlock_participant {
	size_t size;
	const char *label;     /* as in dlock_options.label */
	const char *id;        /* tells participants apart; neither secret nor
				* proof */
	uint64_t token;        /* 0: none, or waiting; of a claim that a client
				* passes on or keeps, the first hold's */
	int64_t remaining_ms;  /* -1: does not expire, or not known */
	int shared;            /* holds, or waits for, the read side or a
				* permit */
	int waiting;           /* in the wait queue; the calls come in the
				* queue's order */
	int64_t since_ms;      /* the time of the grant, in ms since 1970 by the
				* store's clock; 0: waiting, or not known */
	uint32_t permits;      /* of a semaphore: held or waited for; of a lock
				* 0 */
	uint32_t limit;        /* of a semaphore: all its permits, for all
				* participants; of a lock 0 */
};

/* Report the participants of `lock` as the store sees them now: stale on
 * arrival.  ENOTSUP without DLOCK_CAP_INSPECT. */
DLOCK_API int dlock_inspect(dlock_lock *lock,
			    void (*each)(const struct dlock_participant *p,
					 void *arg),
			    void *arg, int64_t timeout_ms);

/* The permits of a semaphore. */
struct dlock_permits {
	size_t size;
	uint32_t limit;        /* all permits, as the users of the semaphore
				* say, or dlock_semaphore_resize(); without
				* users, as this handle says */
	uint32_t held;
	uint32_t free;         /* limit - held, or 0 */
};

/* Fill in `out` with the store's report of now; the caller has set `out->size`.
 * As stale on arrival as dlock_inspect().
 *
 *   EINVAL   not a semaphore
 *   ENOTSUP  the store lacks DLOCK_CAP_INSPECT */
DLOCK_API int dlock_semaphore_permits(dlock_lock *lock,
				      struct dlock_permits *out,
				      int64_t timeout_ms);

/*
 * Set how many permits a semaphore has, while it is in use.  Waiters are woken
 * if there are more now.  If there are fewer, holders keep their permits, and
 * the store grants no permit until enough have been released: at each grant
 * there are no more holders than the number valid then.
 *
 * The set number counts for all users, whatever their handles name, so programs
 * with the old number go on, and programs with the new number may start.  When
 * no user holds a permit or waits for a permit, the number of the handles
 * counts again; on file: and memcached:, and on redis: with order=any, when no
 * user holds a permit.
 *
 *   EINVAL   not a semaphore; permits is 0; or the semaphore has no user
 *   ENOTSUP  the store lacks DLOCK_CAP_RESIZE
 */
DLOCK_API DLOCK_NODISCARD int dlock_semaphore_resize(dlock_lock *lock,
						     uint32_t permits,
						     int64_t timeout_ms);

/* Take the lock away from the holders: they learn of the break as a loss, and
 * the next token is larger.  For operators: a holder learns of the loss within
 * a third of the lease, and may still be at work until then.
 * ENOTSUP if the store cannot break locks. */
DLOCK_API int dlock_break(dlock_lock *lock, int64_t timeout_ms);

/* A lock held or waited for, or remembered by the store from earlier use.
 * Borrowed for the call of `each`. */
struct dlock_lock_info {
	size_t size;
	const char *name;
	const char *kind;      /* "lock", "semaphore" */
	uint32_t permits;      /* of a semaphore; else 0 */
};

/* Report the locks known to the store under the URI's prefix, in no order.
 * ENOTSUP without DLOCK_CAP_LIST.  A store with many locks needs time to report
 * them.  So dlock_list(), dlock_inspect() and dlock_break() may take all of the
 * timeout, as may dlock_revoke(), dlock_semaphore_permits() and _resize(): ten
 * minutes if the timeout is < 0.  All return ECANCELED when the client is
 * closed. */
DLOCK_API int dlock_list(dlock_client *client,
			 void (*each)(const struct dlock_lock_info *entry,
				      void *arg),
			 void *arg, int64_t timeout_ms);

#define DLOCK_TIMES_BUCKETS 16

/*
 * Durations of a kind.  bucket[i] counts the durations of less than 4^(i+1) us
 * that no earlier bucket counts: 4 us, 16 us, 64 us ... 18 min; the last bucket
 * counts all longer ones.
 */
struct dlock_times {
	uint64_t count;
	uint64_t sum_us;
	uint64_t bucket[DLOCK_TIMES_BUCKETS];
};

/* The work of a client since dlock_open().  Counters never go back. */
struct dlock_stats {
	size_t size;
	uint64_t asked;        /* acquires that asked the store */
	uint64_t granted;
	uint64_t busy;         /* ... that ended EBUSY */
	uint64_t attempts;     /* requests for a claim sent to the store */
	uint64_t wakes;        /* waiters woken by the store */
	uint64_t polls;        /* attempts made because a backoff time, or a
				* time set by the store, was up */
	uint64_t released;
	uint64_t lost;
	uint64_t renewed;      /* leases restarted or confirmed */
	uint64_t renew_failed; /* renewals without an answer */
	uint64_t renew_late;   /* renewals begun with under half a lease left */
	uint64_t holds;        /* held now */
	uint64_t waiters;      /* waiting now */
	uint64_t pending_cleanups; /* claims being cleaned up now */
	struct dlock_times wait;   /* from an acquire to the grant.  The time of
				    * the store's answer to the last attempt is
				    * part of it only where holds expire */
	struct dlock_times hold;   /* from the grant to the last release, even
				    * if the hold was lost meanwhile */
	struct dlock_times renewal_lag; /* renewals began so much later than
					 * planned */
	uint64_t passed;       /* of `granted`: holds that a thread passed to
				* the next without a request */
	uint64_t retaken;      /* ... from a kept claim, likewise */
	uint64_t kept;         /* kept now, without a holder */
};

/* Fill in `out`; the caller has set `out->size`. */
DLOCK_API int dlock_get_stats(dlock_client *client, struct dlock_stats *out);

/* A store known to this library.  Borrowed for the call of `each`. */
struct dlock_store {
	size_t size;
	const char *scheme;
	const char *summary;
	const char *missing;   /* NULL if built in; else how to build it in */
	uint32_t caps;         /* all possible promises; 0 if not built in */
};

/* A parameter of a scheme's URIs.  Borrowed for the call of `each`. */
struct dlock_store_param {
	size_t size;
	const char *name;
	const char *type; /* "duration", "number", "switch", "choice", "text" */
	const char *range;     /* "10ms to 24h", "text|meta|auto", or "" */
	const char *def;       /* as in a URI; "" for none */
	const char *text;      /* a sentence */
};

DLOCK_API void dlock_each_store(void (*each)(const struct dlock_store *store,
					     void *arg),
				void *arg);

/* Report the parameters of `scheme`, common ones first.  EINVAL: no such
 * scheme. */
DLOCK_API int dlock_each_param(const char *scheme,
			       void (*each)(const struct dlock_store_param *p,
					    void *arg),
			       void *arg);

/* The code's name ("EBUSY"), the code's text, and this thread's last message.
 * Static; the message is valid until the thread's next failing call. */
DLOCK_API const char *dlock_errname(int code);
DLOCK_API const char *dlock_strerror(int code);
DLOCK_API const char *dlock_errmsg(void);

DLOCK_API const char *dlock_version(void);

#ifdef __cplusplus
}
#endif
#endif
