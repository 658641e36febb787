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
 *    you (on_event, dlock_check, dlock_hold_fd) but cannot stop you.  Guard
 *    what must never happen twice with the token, at the resource: see
 *    dlock_token().
 *  - Stores differ.  Say what you need in dlock_options.require, and
 *    dlock_open() refuses a store that cannot give it.
 *  - A client does not survive fork(): in the child every call on it returns
 *    EFORKED and does no I/O.  Open a new one there.
 *
 * CONVENTIONS
 *  - int functions return DLOCK_OK (0) or a negative DLOCK_E code.  Each lists
 *    the codes worth testing for; any may also return ENOMEM, ESYSTEM, EPROTO.
 *  - `out` is owned by the caller and is set only on success.
 *  - Names ending in _ms are milliseconds.  timeout_ms: DLOCK_FOREVER waits
 *    for ever, 0 asks once; any other negative number is EINVAL, as it is
 *    the difference of two times more often than a wish.  A call returns by
 *    its timeout plus the `ask` time, whatever the store does.  The URI can
 *    give that time; otherwise it follows the store's round trips, from 40 ms
 *    for one that is near to 1 s.  A try on ZooKeeper that makes nodes there,
 *    or meets other tries, may take longer: see docs/zookeeper.md.
 *  - Strings are UTF-8.  The library copies them, unless a comment says that
 *    they are borrowed.
 *  - Any thread may call any function unless its comment says otherwise.
 *    None is a cancellation point; all keep errno.
 *  - Set the `size` member of a struct to its sizeof, so that old programs
 *    work with newer libraries.
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

/* What a store can promise; dlock_caps() reports it, `require` demands it.
 * The conformance suite tests every bit that a backend declares. */
enum {
	DLOCK_CAP_REMOTE     = 1 << 0, /* excludes holders on other hosts */
	DLOCK_CAP_SHARED     = 1 << 1, /* read-write locks */
	DLOCK_CAP_COUNT      = 1 << 2, /* semaphores */
	DLOCK_CAP_FENCE      = 1 << 3, /* tokens rise while the store keeps
					* its state */
	DLOCK_CAP_FENCE_DURABLE = 1 << 4, /* ... and across its restarts */
	DLOCK_CAP_FAIR       = 1 << 5, /* grants in order of asking */
	DLOCK_CAP_WAKE       = 1 << 6, /* a release wakes a waiter, no poll */
	DLOCK_CAP_EXPIRE     = 1 << 7, /* a dead holder's lock comes free */
	DLOCK_CAP_DURABLE    = 1 << 8, /* a hold survives the store's restart */
	DLOCK_CAP_CONSISTENT = 1 << 9, /* no two promise intervals overlap, even
					* across the store's own fail-over */
	DLOCK_CAP_INSPECT    = 1 << 10, /* reports holders, and with FAIR also
					 * waiters */
	DLOCK_CAP_LIST       = 1 << 11, /* can list its locks */
	DLOCK_CAP_WANTED     = 1 << 12, /* tells a client what others ask for,
					 * so that it may keep a lock and pass
					 * it among its threads */
	DLOCK_CAP_RESIZE     = 1 << 13, /* dlock_semaphore_resize() */
	DLOCK_CAP_PERMITS    = 1 << 14, /* several permits at once */
	DLOCK_CAP_UPGRADE    = 1 << 15  /* dlock_upgradeable_new() */
};

/* The name of one bit, "FENCE", or NULL: for tables and messages. */
DLOCK_API const char *dlock_cap_name(uint32_t bit);

typedef struct dlock_client dlock_client; /* a connection to one store */
typedef struct dlock_lock dlock_lock;     /* a named lock in a store */
typedef struct dlock_hold dlock_hold;     /* a lock while we hold it */

enum dlock_event {
	DLOCK_AT_RISK, /* renewals fail; the lease has not run out yet */
	DLOCK_SAFE,    /* renewed again after AT_RISK */
	DLOCK_LOST,    /* final; at most once per hold; after its release only
			* with release=async, see dlock_release() */
	DLOCK_WANTED,  /* others ask for the lock: see dlock_revocable() */
	DLOCK_UNCONFIRMED /* release=async: see dlock_release() */
};

/*
 * Called on the thread "dlock-deliver", which all clients of the process share,
 * or in dlock_process() after dlock_events_by_process(), with no dlock lock
 * held.  A slow callback delays the callbacks of all clients and nothing else.
 * May call anything except dlock_lock_free(), and dlock_close() of its own
 * client.  `why` is borrowed for the call.
 *
 * dlock_release() waits for a running callback about its hold, unless the
 * callback itself calls it.  So `hold` is valid for the whole call, and you
 * must not release while you own a mutex that the callback takes.
 */
typedef void (*dlock_event_fn)(dlock_hold *hold, enum dlock_event event,
			       const char *why, void *arg);

/* A line of the log, with fields for programs that log in JSON or the like.
 * Borrowed for the call.  Nothing in it is secret. */
struct dlock_log_line {
	size_t size;
	int level;         /* 0 error, 1 warning, 2 info, 3 debug */
	int code;          /* the DLOCK_E code that it tells of, or 0 */
	const char *text;  /* one sentence; the rest need not be in it */
	const char *lock;  /* name of the lock that it is about, or NULL */
	const char *label; /* of the client */
	const char *uri;   /* of the store, as dlock_uri() says it */
};

/* Called from any thread, for one line at a time, in order; or in
 * dlock_process() after dlock_events_by_process().  May call nothing
 * of dlock, and may not wait for a thread that does. */
typedef void (*dlock_log_fn)(const struct dlock_log_line *line, void *arg);

/*
 * What a URI cannot say.  Start from DLOCK_OPTIONS_INIT.  New members are only
 * added at the end, and `size` tells the library which ones you know.
 */
typedef struct dlock_options {
	size_t size;
	uint32_t require;        /* DLOCK_CAP_ bits the store must have */
	const char *label;       /* what dlock_inspect() shows of us; NULL:
				  * host:pid */
	dlock_event_fn on_event; /* may be NULL */
	dlock_log_fn on_log;     /* may be NULL: silent */
	void *arg;               /* passed to both */
	const char *password;    /* used if the URI has none; may be NULL */
	int once;                /* dlock_open() asks a store that is not there
				  * only once, see there */
} dlock_options;

#define DLOCK_OPTIONS_INIT                                                    \
	{ sizeof(dlock_options), 0, NULL, NULL, NULL, NULL, NULL, 0 }

/*
 * Open the store at `uri`.  Does not return before the store has answered.
 * While its server refuses connections, or does not serve yet, tries again
 * until the URI's `connect` time is over; with opts->once, returns EUNREACHABLE
 * at once.  `opts` may be NULL.  Free with dlock_close().
 *
 *   EINVAL        no such scheme, unknown or ill-formed parameter
 *   ENOTSUP       the store lacks a capability in opts->require, or its
 *                 backend is not built in
 *   EUNREACHABLE  no answer within the URI's `connect` time (default 5s);
 *                 dlock_errmsg() says why, such as "Connection refused"
 *   EDENIED       wrong credentials
 */
DLOCK_API DLOCK_NODISCARD int dlock_open(dlock_client **out, const char *uri,
					 const dlock_options *opts);

/*
 * Release all holds, cancel all waits, free the client.  Takes at most the
 * URI's `close` time (default 2s), plus the rest of a running callback.  NULL
 * is a no-op, and so is a client that belongs to the parent process.
 *
 * Call it once, when no other thread is about to begin a call on the client or
 * its locks; waits that are under way end with ECANCELED.  Remaining handles
 * and holds still need their dlock_lock_free() and dlock_release(): the holds
 * have ended, and return ELOST.
 */
DLOCK_API void dlock_close(dlock_client *client);

/* The DLOCK_CAP_ bits of the opened store. */
DLOCK_API uint32_t dlock_caps(const dlock_client *client);

/* The lease that the store agreed to; 0 if holds do not expire. */
DLOCK_API int64_t dlock_ttl_ms(const dlock_client *client);

/* How long the lock of a dead holder may stay taken beyond that lease, because
 * the store rounds it up.  0 if nothing expires. */
DLOCK_API int64_t dlock_linger_ms(const dlock_client *client);

/* The URI as the library read it, without its password.  Borrowed. */
DLOCK_API const char *dlock_uri(const dlock_client *client);

/*
 * Make a handle for the lock called `name`: 1 to 255 bytes of UTF-8 without
 * control characters, '/' allowed.  Does no I/O.  A mutex and a read-write lock
 * of one name are the same lock, in any process: a mutex is its write side.  A
 * semaphore of that name is another lock.  Threads may share a handle, and then
 * exclude each other.  Free with dlock_lock_free(), not while held or waited
 * for.
 *
 * mutex      one holder; a thread that holds it may take it again
 * rwlock     one writer or many readers; re-entrant likewise.  The writer may
 *            also take the read side, and keep it when it releases the write
 *            side.  Other readers come in then at once on mem:, file: and
 *            redis:, and on zk: and memcached: when it releases the read
 *            side.  A reader that asks for the write side gets EDEADLK, see
 *            dlock_upgradeable_new()
 * semaphore  `permits` holders; every acquire takes one permit, and any thread
 *            may release it.  All users must name the same number of permits,
 *            unless dlock_semaphore_resize() has set another
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
 * Have the holds of this handle belong to no thread: each acquire returns a
 * hold of its own, and any thread may release it.  For event loops, executors
 * and coroutines, which begin on one thread and end on another.  A property of
 * the handle, not of the lock: a hold of it and a hold of any other handle
 * exclude each other, also within one thread.  So a thread that acquires while
 * it holds the lock waits for itself until its deadline.
 *
 * Call it before the first acquire.  Semaphores are like this anyway.  The
 * members of a multi-lock are as their handles were in dlock_multi_new().
 *
 *   EINVAL  lock is NULL or a multi-lock
 */
DLOCK_API DLOCK_NODISCARD int dlock_lock_unbind(dlock_lock *lock);

/*
 * Have dlock_acquire() of this handle take the read side, as
 * dlock_acquire_shared() does: for a member of a multi-lock, and for code that
 * knows one acquire only.  A property of the handle, not of the lock: another
 * handle is for the write side.  Call it before the first acquire.
 *
 *   EINVAL  lock is not a read-write lock
 */
DLOCK_API DLOCK_NODISCARD int dlock_lock_use_read_side(dlock_lock *lock);

/*
 * Have a dlock_cancel() of this handle that meets no wait end the next one: it
 * returns ECANCELED at once, even if the lock is free.  So a thread that is
 * told to stop after its look at a flag and before its wait stops.  A cancel,
 * or several, is kept until one wait, or all that are under way, have ended
 * with ECANCELED for it; a wait that is granted at that moment leaves it for
 * the next.  A try, with timeout 0, is no wait.  For handles of any kind,
 * before the first acquire.
 *
 *   EINVAL  lock is NULL
 */
DLOCK_API DLOCK_NODISCARD int dlock_lock_sticky_cancel(dlock_lock *lock);

#define DLOCK_NAME_SIZE 256 /* the longest name, and its end */

enum {
	DLOCK_NAME_SAME,    /* the bytes are the name */
	DLOCK_NAME_ESCAPED, /* "%e:", and %xx for each byte that is not
			     * printable ASCII, and for space and '%' */
	DLOCK_NAME_HASHED   /* "%h:" and the SHA-256 of the bytes in hex: the
			     * name would have been too long */
};

/*
 * Make a legal name of `len` bytes of any kind, 0 as well, and say what was
 * made of them.  Different bytes get different names, as far as SHA-256 can
 * tell; a legal name stays as it is, unless it begins with "%e:" or "%h:".  The
 * rule will not change: other programs, and later versions, get the same name.
 *
 *   EINVAL  a NULL
 */
DLOCK_API DLOCK_NODISCARD int dlock_name_make(char out[DLOCK_NAME_SIZE],
					      const void *bytes, size_t len);

/*
 * Make one lock of many, from any mix of stores.  Acquires all or none under a
 * single deadline; releases in reverse.  Keeps its own handles: `members` may
 * be freed at once.  Each acquire returns a hold of its own, even if members
 * are re-entrant; dlock_member() returns the members' holds.  A multi-lock
 * cannot be a member of another.  Of a member that is a read-write lock it
 * takes the write side, unless dlock_lock_use_read_side() was called.
 *
 * An acquire waits for one member while it holds none, then tries the others.
 * If a try finds a member busy, the acquire gives back all members and waits
 * for the busy one first, as std::lock does (C++, [thread.lock.algorithm]).  So
 * it takes part in no deadlock, in whatever order others take the same locks.
 * It has no place in the queue of a member that it does not wait for: where all
 * members are in demand all the time, holders of single members may be faster
 * again and again.
 *
 *   EINVAL  no members, a NULL, a multi-lock, or the same lock twice.  Where
 *           two URIs lead to one lock, the wait of dlock_acquire() finds it
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

/* Free a handle.  Its holds stay held; its waits must have ended.  NULL is a
 * no-op. */
DLOCK_API void dlock_lock_free(dlock_lock *lock);

/*
 * Take the lock: a mutex, the write side of a read-write lock, one permit of a
 * semaphore, or every member of a multi-lock.  A re-entrant acquire returns the
 * same hold again; each acquire needs its own release.
 *
 *   EBUSY         others held it until the deadline, or when the store last
 *                 answered this call; dlock_errmsg() names one, by its label,
 *                 if the store reports it in time
 *   EUNREACHABLE  the store did not answer by the deadline.  Nothing is held,
 *                 and what the call may have left there is cleaned up
 *   ECANCELED     dlock_cancel() or dlock_close() ended the wait
 *   ELOST         this thread's earlier hold was lost; release it first
 *   EDEADLK       this thread holds the read side and asks for the write side
 *   EDENIED       the store refused the credentials
 *   EEXHAUSTED    a limit of the store or of this process, such as its
 *                 connections: see dlock_errmsg()
 *   EINVAL        the semaphore's other users name another number of permits,
 *                 and dlock_semaphore_resize() has not set it
 *
 * `*out` is the caller's until the last dlock_release() of it.
 */
DLOCK_API DLOCK_NODISCARD int dlock_acquire(dlock_lock *lock,
					    int64_t timeout_ms,
					    dlock_hold **out);

/* As dlock_acquire(), for the read side.  EINVAL if not a read-write lock. */
DLOCK_API DLOCK_NODISCARD int dlock_acquire_shared(dlock_lock *lock,
						   int64_t timeout_ms,
						   dlock_hold **out);

/*
 * What one acquire wants.  Start from DLOCK_ACQUIRE_OPTIONS_INIT, which waits
 * for ever and leaves the rest to the client.  `size` is as in dlock_options.
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
	const char *label;   /* what dlock_inspect() shows of this hold; NULL:
			      * the client's */
	uint32_t permits;    /* of a semaphore, all at once or none; 0: one */
} dlock_acquire_options;

#define DLOCK_ACQUIRE_OPTIONS_INIT                                            \
	{ sizeof(dlock_acquire_options), DLOCK_FOREVER, 0, 0, 0, 0, NULL, 0 }

/*
 * As dlock_acquire(), and dlock_acquire_shared(), for a hold with options of
 * its own.  `opts` may be NULL.
 *
 * A hold can end by itself, while the program still has it, in three ways.  It
 * is lost then, as any hold: LOST event, ELOST, dlock_hold_fd().  The client
 * gives the claim back at that moment, so that others get the lock although
 * nobody has released it.
 *
 * max_hold_ms  so long after the grant, however often it is renewed: against a
 *              program that hangs
 * lease_ms     at least 10, and at most the store's lease.  The hold is renewed
 *              each third of that, and lost if no renewal succeeds in that
 *              time: it learns sooner that the store is away
 * no_renew     so long after the request that was granted as lease_ms says, be
 *              that shorter or longer than the store's lease; without lease_ms,
 *              with the store's lease
 *
 * The store keeps what it keeps for every hold of the client, the lease of
 * dlock_ttl_ms(), and that is what others see: if this process dies or is cut
 * off, they have the lock when that lease ends.  It is renewed behind a hold
 * that may last longer.  Where holds do not expire, a lease_ms without no_renew
 * has no effect.  On zk: the renewals ask the session and not the server, which
 * tells of an absent server when the session's lease ends.
 *
 * A thread that holds the lock gets the same hold again if each option is left
 * out or is that of the hold.  For a multi-lock each member has the options.
 * A hold with lease_ms, max_hold_ms, no_renew or label is asked of the store:
 * the client neither passes nor keeps it.
 *
 * A hold of several permits has them all, and the release gives them all back.
 * Whatever order a store serves others in: an acquire of many permits is not
 * overtaken by acquires that come later and want few.
 *
 *   EINVAL   an option that is out of range; lease_ms longer than the store's
 *            lease; no_renew without lease_ms where holds do not expire; this
 *            thread holds the lock with other options; permits of a lock that
 *            is no semaphore, more than the handle names, or more than there
 *            are since dlock_semaphore_resize()
 *   ENOTSUP  permits is more than 1, and the store lacks DLOCK_CAP_PERMITS
 */
DLOCK_API DLOCK_NODISCARD int
dlock_acquire_opts(dlock_lock *lock, const dlock_acquire_options *opts,
		   dlock_hold **out);

/*
 * Take the write side as well: `upgradeable` is a hold that this thread has
 * acquired with the handle `lock`, or that belongs to no thread.  Waits until
 * the plain readers have left; new ones wait behind it, and so do writers that
 * came before it.  From the acquire of `upgradeable` to its release no other
 * writer has the lock.
 *
 * `*out` is a hold of its own, of the write side: it has a token larger than
 * that of `upgradeable`, a lease, and the options of `upgradeable`, with a
 * max_hold_ms that counts from this grant.  Its release leaves the upgradeable
 * read side, which can be upgraded again.  A thread that has the write side
 * gets the same hold again, also from dlock_acquire().
 *
 * Whatever this returns, `upgradeable` is held as before.  If it is lost while
 * the call waits, the call ends with ELOST.  dlock_cancel(lock) ends the wait.
 * Until `*out` is released, and while a call waits, the last release of
 * `upgradeable` is refused with EINVAL.  If `upgradeable` is lost and `*out`
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
 * now it is `ms` away, be that later or sooner than before.  Asks no store: if
 * the store's lease would end before, it is renewed in the background.  Of a
 * multi-lock's hold, the end of each member.
 *
 *   EINVAL  ms is not positive; or the hold has no such end
 *   ELOST   the end has come, or the hold was lost otherwise
 */
DLOCK_API DLOCK_NODISCARD int dlock_extend(dlock_hold *hold, int64_t ms);

/*
 * Undo one acquire; the last release frees `hold`.  The hold has ended whatever
 * this returns, except on EINVAL and EFORKED.  An error only tells you when
 * other clients will be able to take the lock.  Waits for the store's answer,
 * at most the URI's `close` time.
 *
 *   ELOST         the hold had been lost: another holder may have interfered
 *                 with what you did under it
 *   EUNREACHABLE  the store did not confirm; dlock keeps trying until the
 *                 lease has run out
 *   EINVAL        another thread acquired this mutex or read-write lock, and
 *                 only that thread may release it, see dlock_lock_unbind(); or
 *                 the write side that dlock_upgrade() added comes first.
 *                 Nothing has changed
 *
 * With release=async in the URI it returns when the request is sent.  What the
 * answer says later is an event: DLOCK_LOST, the hold had been lost before its
 * release; DLOCK_UNCONFIRMED, the store did not confirm it.  `hold` serves only
 * to tell which one it was: ask for its token, and do not release it again.
 */
DLOCK_API int dlock_release(dlock_hold *hold);

/* End every wait that is under way on this handle with ECANCELED.  Leaves holds
 * alone, and later waits as well unless dlock_lock_sticky_cancel() was called.
 * A wait whose request is on its way gives the store the `ask` time to answer,
 * and then returns; what the request may have left there is cleaned up.  Not
 * for signal handlers: to end a wait on SIGTERM, block the signal, and call
 * this in a thread that waits for it (sigwait(3)).
 */
DLOCK_API void dlock_cancel(dlock_lock *lock);

/*
 * Do we still hold it?  OK or ELOST.  Never blocks and never asks the store: OK
 * means that the lease has not run out at the instant of the call.  The lease
 * counts on this host's boot-time clock, from before the last request that
 * renewed it.  Async-signal-safe; leaves dlock_errmsg() alone.
 */
DLOCK_API int dlock_check(const dlock_hold *hold);

/*
 * How many times does this thread hold the lock: how many acquires has it yet
 * to release, through whatever handle of this client?  A hold that was lost
 * does not count.  Never asks the store, so a lock that others hold is 0, too.
 *
 * mutex         the write side
 * rwlock        both sides
 * unbound       the holds of the client that belong to no thread
 * semaphore     the permits of the client
 * multi-lock    the least of its members
 *
 * >= 0; or EINVAL, EFORKED.
 */
DLOCK_API int dlock_lock_held(dlock_lock *lock);

/* Time left on the lease, rounded down; 0 if lost, -1 if it does not expire.
 * For a multi-lock: the least of its members. */
DLOCK_API int64_t dlock_remaining_ms(const dlock_hold *hold);

/*
 * The earliest that you can be warned of the hold's end: while every renewal is
 * answered in time, dlock_remaining_ms() stays above this.  It changes with
 * each renewal, so call it before dlock_remaining_ms().  If renewals fail, or
 * the URI's max_hold ends the hold, it is all that is left; 0 if lost, -1 if
 * the lease does not expire.  For a multi-lock: the least of its members.
 */
DLOCK_API int64_t dlock_warning_ms(const dlock_hold *hold);

/*
 * The fencing token of this hold: larger than any token granted before it to a
 * conflicting holder of the same name, and the same for re-entrant acquires.
 * Send it with every write, and let the resource refuse a token smaller than
 * one that it has seen.  0 if the store lacks DLOCK_CAP_FENCE, and for a
 * multi-lock, whose members have a token each: dlock_member().  An upgradeable
 * hold has that of its read side.
 * After Burrows, "The Chubby lock service", OSDI 2006, section 2.4: sequencers.
 */
DLOCK_API uint64_t dlock_token(const dlock_hold *hold);

/* The hold of the multi-lock's member `i`, in the order given to
 * dlock_multi_new(); NULL past the end, and if `hold` is not a multi-lock's.
 * Borrowed from `hold`: never release it. */
DLOCK_API dlock_hold *dlock_member(const dlock_hold *hold, size_t i);

/* A descriptor that polls readable once the hold is lost, for event loops.
 * Owned by the hold; do not read or close it.  < 0 is an error code. */
DLOCK_API int dlock_hold_fd(dlock_hold *hold);

/*
 * Ask to be told when others want the lock: when another client asks for it,
 * and when any client calls dlock_revoke().  Then on_event gets DLOCK_WANTED,
 * and dlock_wanted_fd() polls readable, once for each call of this function at
 * most; at once if others ask already.  It is a hint, which may come
 * needlessly.  The holder may release the lock soon, or later, or ignore the
 * hint.
 *
 * For a mutex and the write side of a read-write lock.  Of a multi-lock's hold,
 * each member is told of by itself, and those of stores that cannot tell are
 * left out, unless all are.  After Curator's InterProcessMutex.makeRevocable().
 *
 * With DLOCK_CAP_WANTED the store tells at once.  memcached: has to be asked,
 * and is at each renewal: after a third of the lease at most.
 *
 *   ENOTSUP       the store cannot tell, or the hold is of a read side, of a
 *                 semaphore, or from dlock_upgrade()
 *   ELOST         the hold was lost
 *   EUNREACHABLE  the store did not answer: nobody tells of this hold
 */
DLOCK_API DLOCK_NODISCARD int dlock_revocable(dlock_hold *hold);

/* A descriptor that polls readable once the hold was wanted, for event loops;
 * calls dlock_revocable() unless that was called.  Owned by the hold; do not
 * read or close it.  < 0 is an error code: as there, and EINVAL for a
 * multi-lock, whose members have one each. */
DLOCK_API int dlock_wanted_fd(dlock_hold *hold);

/*
 * Ask the holder to give the lock up of its own accord.  Those that called
 * dlock_revocable() are told, in this client as well, and a lock that a client
 * keeps (keep= in the URI) is released.  Does not wait for that.  DLOCK_OK also
 * if nobody holds the lock, or if the holder does not listen.
 * After Curator's Revoker.attemptRevoke().
 *
 *   EINVAL   a multi-lock
 *   ENOTSUP  the store cannot tell a holder anything
 */
DLOCK_API DLOCK_NODISCARD int dlock_revoke(dlock_lock *lock,
					   int64_t timeout_ms);

/* A holder or a waiter.  Borrowed for the call of `each`. */
struct dlock_participant {
	size_t size;
	const char *label;     /* its dlock_options.label */
	const char *id;        /* tells participants apart; neither secret nor
				* proof */
	uint64_t token;        /* 0: none, or waiting */
	int64_t remaining_ms;  /* -1: does not expire, or not known */
	int shared;            /* holds, or waits for, the read side or a
				* permit */
	int waiting;           /* in the wait queue; the calls come in its
				* order */
	int64_t since_ms;      /* when it got the lock, in ms since 1970 by the
				* store's clock; 0: waiting, or not known */
	uint32_t permits;      /* of a semaphore: how many it has, or waits
				* for; of a lock 0 */
	uint32_t limit;        /* of a semaphore: how many permits there are,
				* for all participants; of a lock 0 */
};

/* Report the participants of `lock` as the store sees them now; the report is
 * stale on arrival.  ENOTSUP without DLOCK_CAP_INSPECT. */
DLOCK_API int dlock_inspect(dlock_lock *lock,
			    void (*each)(const struct dlock_participant *p,
					 void *arg),
			    void *arg, int64_t timeout_ms);

/* The permits of a semaphore. */
struct dlock_permits {
	size_t size;
	uint32_t limit;        /* how many there are, as those say that use the
				* semaphore, or dlock_semaphore_resize(); if
				* nobody uses it, as this handle says */
	uint32_t held;
	uint32_t free;         /* limit - held, or 0 */
};

/* Fill in `out` with what the store reports now; the caller has set its `size`.
 * As stale on arrival as dlock_inspect().
 *
 *   EINVAL   not a semaphore
 *   ENOTSUP  the store lacks DLOCK_CAP_INSPECT */
DLOCK_API int dlock_semaphore_permits(dlock_lock *lock,
				      struct dlock_permits *out,
				      int64_t timeout_ms);

/*
 * Set how many permits a semaphore has, while it is in use.  Waiters are woken
 * if there are more now.  If there are fewer, holders keep theirs, and nobody
 * is granted one until enough have released: at each grant there are no more
 * holders than the number that is valid then.
 *
 * The number that was set counts for everybody, whatever their handles name, so
 * programs with the old number go on, and programs with the new one may start.
 * When nobody holds a permit or waits for one, what handles name counts again;
 * on file:, and on redis: with order=any, when nobody holds one.
 *
 *   EINVAL   not a semaphore; permits is 0; or nobody uses the semaphore
 *   ENOTSUP  the store lacks DLOCK_CAP_RESIZE
 */
DLOCK_API DLOCK_NODISCARD int dlock_semaphore_resize(dlock_lock *lock,
						     uint32_t permits,
						     int64_t timeout_ms);

/* Take the lock away from its holders: they learn of it as a loss, and the next
 * token is larger.  For operators: a holder learns of it within a third of its
 * lease, and may still be at work until then.
 * ENOTSUP if the store cannot break locks. */
DLOCK_API int dlock_break(dlock_lock *lock, int64_t timeout_ms);

/* A lock that is held or waited for, or that the store remembers from earlier
 * use.  Borrowed for the call of `each`. */
struct dlock_lock_info {
	size_t size;
	const char *name;
	const char *kind;      /* "lock", "semaphore" */
	uint32_t permits;      /* of a semaphore; else 0 */
};

/* Report the locks that the store knows under the URI's prefix, in no order.
 * ENOTSUP without DLOCK_CAP_LIST.  A store with many locks needs time to report
 * them.  So this, dlock_inspect() and dlock_break() may take all of their
 * timeout, or ten minutes if it is < 0.  They return ECANCELED when the client
 * is closed. */
DLOCK_API int dlock_list(dlock_client *client,
			 void (*each)(const struct dlock_lock_info *entry,
				      void *arg),
			 void *arg, int64_t timeout_ms);

#define DLOCK_TIMES_BUCKETS 16

/*
 * Durations of one kind.  bucket[i] counts those of less than 4^(i+1) us that
 * no earlier one counts: 4 us, 16 us, 64 us ... 18 min; the last counts all
 * that are longer.
 */
struct dlock_times {
	uint64_t count;
	uint64_t sum_us;
	uint64_t bucket[DLOCK_TIMES_BUCKETS];
};

/* What a client has done since it was opened.  Counters never go back. */
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
	struct dlock_times wait;   /* from an acquire to its grant.  What the
				    * store needed to answer the last attempt
				    * is in it only where holds expire */
	struct dlock_times hold;   /* from the grant to the last release, even
				    * if the hold was lost meanwhile */
	struct dlock_times renewal_lag; /* renewals began so much later than
					 * planned */
	uint64_t passed;       /* of `granted`: holds that one thread passed to
				* the next without a request */
	uint64_t retaken;      /* ... that took a kept claim again, likewise */
	uint64_t kept;         /* kept now, though nobody holds them */
};

/* Fill in `out`; the caller has set its `size`. */
DLOCK_API int dlock_get_stats(dlock_client *client, struct dlock_stats *out);

/* A store that this library knows.  Borrowed for the call of `each`. */
struct dlock_store {
	size_t size;
	const char *scheme;
	const char *summary;
	const char *missing;   /* NULL if built in; else what would build it */
	uint32_t caps;         /* the most it can promise; 0 if not built in */
};

/* A parameter of a scheme's URIs.  Borrowed for the call of `each`. */
struct dlock_store_param {
	size_t size;
	const char *name;
	const char *type; /* "duration", "number", "switch", "choice", "text" */
	const char *range;     /* "10ms to 24h", "text|meta|auto", or "" */
	const char *def;       /* as in a URI; "" for none */
	const char *text;      /* one sentence */
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

/* The code's name ("EBUSY"), its text, and this thread's last message.  Static;
 * the message is valid until the thread's next failing call. */
DLOCK_API const char *dlock_errname(int code);
DLOCK_API const char *dlock_strerror(int code);
DLOCK_API const char *dlock_errmsg(void);

DLOCK_API const char *dlock_version(void);

#ifdef __cplusplus
}
#endif
#endif
