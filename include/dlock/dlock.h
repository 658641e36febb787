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
 *     memcached://h:11211/?ttl=30s             a memcached server
 *
 * CAVEATS
 *  - A lock in another machine's memory can be lost while you hold it: the
 *    holder pauses, the network parts, the store restarts.  dlock tells you
 *    (on_event, dlock_check, dlock_hold_fd) but cannot stop you.  What must
 *    never happen twice is guarded by the token, at the resource: see
 *    dlock_token().
 *  - Stores differ.  Say what you need in dlock_options.require, and
 *    dlock_open() refuses a store that cannot give it.
 *  - A client does not survive fork(): in the child every call on it answers
 *    EFORKED and does no I/O.  Open a new one there.
 *
 * CONVENTIONS
 *  - int functions return DLOCK_OK (0) or a negative DLOCK_E code; each lists
 *    those worth testing for.  Any may also return ENOMEM, ESYSTEM, EPROTO.
 *  - `out` is owned by the caller and is set only on success.
 *  - Names ending _ms are milliseconds.  timeout_ms: < 0 waits for ever,
 *    0 asks once.  A call is over by its timeout plus the URI's `ask` time
 *    (default 40ms), whatever the store does.
 *  - Strings are UTF-8, copied unless said to be borrowed.
 *  - Every function may be called from any thread unless it says otherwise.
 *    None is a cancellation point; all keep errno.
 *  - A struct with a `size` member is handed over with size = sizeof it, so
 *    that old programs work with newer libraries.
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

/* Every code, once: number, name and text all come from this list. */
#define DLOCK_ERRORS(X)                                                       \
	X(EBUSY,        -1, "held by others until the deadline")              \
	X(EUNREACHABLE, -2, "the store gave no answer by the deadline")       \
	X(ECANCELED,    -3, "the wait was cancelled")                         \
	X(ELOST,        -4, "the lock was lost while it was held")            \
	X(EDEADLK,      -5, "this thread would wait for itself")              \
	X(EINVAL,       -6, "invalid argument")                               \
	X(ENOTSUP,      -7, "this store cannot do that")                      \
	X(EDENIED,      -8, "the store refused our credentials")              \
	X(EEXHAUSTED,   -9, "a limit of the store or of this process")        \
	X(EPROTO,      -10, "the store answered what we do not understand")   \
	X(EFORKED,     -11, "the client belongs to the parent process")       \
	X(ENOMEM,      -12, "out of memory")                                  \
	X(ESYSTEM,     -13, "a system call failed")

enum dlock_error_code {
	DLOCK_OK = 0,
#define X(name, value, text) DLOCK_##name = (value),
	DLOCK_ERRORS(X)
#undef X
};

/* What a store can promise; dlock_caps() reports it, `require` demands it.
 * The comparison suite tests every bit a backend declares. */
enum {
	DLOCK_CAP_REMOTE = 1 << 0, /* excludes holders on other hosts */
	DLOCK_CAP_SHARED = 1 << 1, /* read-write locks */
	DLOCK_CAP_COUNT  = 1 << 2, /* semaphores */
	DLOCK_CAP_FENCE  = 1 << 3, /* tokens rise while the store keeps state */
	DLOCK_CAP_FENCE_DURABLE = 1 << 4, /* ... and across its restarts */
	DLOCK_CAP_FAIR   = 1 << 5, /* grants in order of asking */
	DLOCK_CAP_WAKE   = 1 << 6, /* a release wakes a waiter; no polling */
	DLOCK_CAP_EXPIRE = 1 << 7, /* a dead holder's lock comes free */
	DLOCK_CAP_DURABLE = 1 << 8, /* a hold survives a restart of the store */
	DLOCK_CAP_CONSISTENT = 1 << 9,/* no two promise intervals overlap, even
				       * across the store's own fail-over */
	DLOCK_CAP_INSPECT = 1 << 10, /* tells who holds; FAIR: who waits too */
	DLOCK_CAP_LIST = 1 << 11      /* can tell which locks there are */
};

/* The name of one bit, "FENCE", or NULL: for tables and messages. */
DLOCK_API const char *dlock_cap_name(uint32_t bit);

typedef struct dlock_client dlock_client; /* a connection to one store */
typedef struct dlock_lock dlock_lock;     /* a named lock in a store */
typedef struct dlock_hold dlock_hold;     /* a lock while it is ours */

enum dlock_event {
	DLOCK_AT_RISK, /* renewals fail; the lease stands, and runs out */
	DLOCK_SAFE,    /* renewed again after AT_RISK */
	DLOCK_LOST     /* final; at most once per hold, never after release */
};

/*
 * Called on the client's dispatcher thread with no dlock lock held; a slow
 * callback delays other callbacks and nothing else.  May call anything but
 * dlock_close() and dlock_free().  `why` is borrowed for the call.
 *
 * dlock_release() of a hold waits for a callback about that hold to return
 * (unless it is called from the callback itself), so that `hold` is valid for
 * the whole call: do not release while you own a mutex that the callback takes.
 */
typedef void (*dlock_event_fn)(dlock_hold *hold, enum dlock_event event,
			       const char *why, void *arg);

/* level: 0 error, 1 warning, 2 info, 3 debug.  Never sees a secret.  Called
 * from any thread, from several at once; may call nothing of dlock, nor wait
 * for a thread that does. */
typedef void (*dlock_log_fn)(int level, const char *text, void *arg);

/*
 * What a URI cannot say.  Start from DLOCK_OPTIONS_INIT; members are only ever
 * added at the end, and `size` tells the library which ones you know.
 */
typedef struct dlock_options {
	size_t size;
	uint32_t require;        /* DLOCK_CAP_ bits the store must have */
	const char *label;     /* shown to who asks who holds; NULL: host:pid */
	dlock_event_fn on_event; /* may be NULL */
	dlock_log_fn on_log;     /* may be NULL: silent */
	void *arg;               /* handed to both */
	const char *password;   /* used where the URI gives none; may be NULL */
} dlock_options;

#define DLOCK_OPTIONS_INIT                                                    \
	{ sizeof(dlock_options), 0, NULL, NULL, NULL, NULL, NULL }

/*
 * Open the store at `uri`.  Does not return before the store has answered.
 * `opts` may be NULL.  Free with dlock_close().
 *
 *   EINVAL        no such scheme, unknown or ill-formed parameter
 *   ENOTSUP       the store lacks a capability in opts->require, or its
 *                 backend is not built in
 *   EUNREACHABLE  no answer within the URI's `connect` time (default 5s)
 *   EDENIED       wrong credentials
 */
DLOCK_API DLOCK_NODISCARD int dlock_open(dlock_client **out, const char *uri,
					 const dlock_options *opts);

/*
 * Release whatever is still held, cancel whoever still waits, free the client.
 * Takes at most the URI's `close` time (default 2s) beyond a callback that is
 * running.  NULL is a no-op, and so is a client that belongs to the parent
 * process.
 *
 * Call it once, when no other thread is about to begin a call on the client or
 * its locks; waits that are under way end with ECANCELED.  Handles and holds
 * that are left need their dlock_free() and dlock_release() still: the holds
 * are over, and answer ELOST.
 */
DLOCK_API void dlock_close(dlock_client *client);

/* The DLOCK_CAP_ bits of the opened store. */
DLOCK_API uint32_t dlock_caps(const dlock_client *client);

/* The lease the store agreed to, milliseconds; 0 if holds do not expire. */
DLOCK_API int64_t dlock_ttl_ms(const dlock_client *client);

/* The URI as it was understood, without its password.  Borrowed. */
DLOCK_API const char *dlock_uri(const dlock_client *client);

/*
 * Make a handle for the lock called `name`: 1 to 255 bytes of UTF-8 without
 * control characters, '/' allowed.  Talks to nobody.  Handles of one name and
 * kind, in any process, are the same lock; names of different kinds never meet.
 * A handle may be shared by threads, which then exclude each other.
 * Free with dlock_free(), not while held or waited for.
 *
 * mutex      one holder; a thread that holds it may take it again
 * rwlock     one writer or many readers; re-entrant likewise; the writer may
 *            also take the read side, and keep it when it releases the write
 *            side; the other way round is EDEADLK
 * semaphore  `permits` holders; every acquire takes one permit, and any thread
 *            may release it; 1 permit is the non-re-entrant lock.  Everybody
 *            must name the same number of permits
 *
 *   EINVAL   the name; or permits is 0, or not what others use
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
 * Make one lock of many, from any mix of stores.  Acquires all or none, in one
 * fixed global order, under a single deadline; releases in reverse.  Keeps its
 * own handles: `members` may be freed at once.  Each acquire answers a hold of
 * its own, also where the members are re-entrant; dlock_member() gives the
 * holds of the members.  A multi-lock cannot be a member of another.
 *
 *   EINVAL  no members, a NULL, a multi-lock, or the same lock twice
 */
DLOCK_API DLOCK_NODISCARD int dlock_multi_new(dlock_lock **out,
					      dlock_lock *const members[],
					      size_t count);

/* Free a handle.  Its holds stay held; waits on it must be over.  NULL is a
 * no-op. */
DLOCK_API void dlock_free(dlock_lock *lock);

/*
 * Take the lock: a mutex, the write side of a read-write lock, one permit of a
 * semaphore, every member of a multi-lock.  A re-entrant acquire answers the
 * same hold again; each acquire needs its own release.
 *
 *   EBUSY         others held it until the deadline
 *   EUNREACHABLE  the store did not answer by the deadline; nothing is held,
 *                 and what may have been left there is cleaned up behind
 *   ECANCELED     dlock_cancel() or dlock_close() ended the wait
 *   ELOST         this thread's earlier hold was lost; release it first
 *   EDEADLK       this thread holds the read side and asks for the write side
 *   EDENIED       the store refused our credentials
 *   EEXHAUSTED    a limit of the store or of this process: see dlock_errmsg()
 *   EINVAL        a semaphore whose other users name another number of permits
 *
 * `*out` is the caller's until the last dlock_release() of it.
 */
DLOCK_API DLOCK_NODISCARD int dlock_acquire(dlock_lock *lock,
					    int64_t timeout_ms,
					    dlock_hold **out);

/* As dlock_acquire(), the read side.  EINVAL unless a read-write lock. */
DLOCK_API DLOCK_NODISCARD int dlock_acquire_shared(dlock_lock *lock,
						   int64_t timeout_ms,
						   dlock_hold **out);

/*
 * Undo one acquire; the last one frees `hold`.  It is over whatever is
 * returned but EINVAL and EFORKED; a failure says how the others will find out.
 * Waits for the store's answer, at most the URI's `close` time.
 *
 *   ELOST         it had been lost: what you did under it may be contested
 *   EUNREACHABLE  the store was not told; dlock keeps trying until the lease
 *                 has run out
 *   EINVAL        a mutex or read-write lock that another thread took: holds of
 *                 these belong to their thread.  Nothing has changed.
 */
DLOCK_API int dlock_release(dlock_hold *hold);

/* End every wait that is under way on this handle with ECANCELED.  Holds, and
 * waits that begin later, are not touched. */
DLOCK_API void dlock_cancel(dlock_lock *lock);

/*
 * Is it still ours?  OK or ELOST.  Never blocks and never asks the store: OK
 * means the lease, counted on this host's boot-time clock from before the last
 * request that renewed it, has not run out at the instant of the call.
 * Async-signal-safe; leaves dlock_errmsg() alone.
 */
DLOCK_API int dlock_check(const dlock_hold *hold);

/* Time left on the lease, 0 if lost, -1 if it does not expire.  Rounded down.
 * Of a multi-lock: the least of its members. */
DLOCK_API int64_t dlock_remaining_ms(const dlock_hold *hold);

/*
 * The fencing token of this hold: larger than any token granted before it to a
 * conflicting holder of the same name, the same for re-entrant acquires.  Send
 * it with every write, and let the resource refuse a smaller one than it has
 * seen.  0 if the store lacks DLOCK_CAP_FENCE, and for a multi-lock, whose
 * members have a token each: dlock_member().
 * After Burrows, "The Chubby lock service", OSDI 2006, section 2.4: sequencers.
 */
DLOCK_API uint64_t dlock_token(const dlock_hold *hold);

/* The hold of the multi-lock's member `i`, in the order that dlock_multi_new()
 * was given; NULL past the end, and for a hold that is no multi-lock's.
 * Borrowed from `hold`: never release it. */
DLOCK_API dlock_hold *dlock_member(const dlock_hold *hold, size_t i);

/* A descriptor that polls readable once the hold is lost: for event loops.
 * Owned by the hold; do not read or close it.  < 0 is an error code. */
DLOCK_API int dlock_hold_fd(dlock_hold *hold);

/* Who holds and who waits.  Borrowed for the call of `each`. */
struct dlock_party {
	size_t size;
	const char *label;     /* the other side's dlock_options.label */
	const char *id;     /* tells parties apart; no secret, proves nothing */
	uint64_t token;        /* 0: none, or waiting */
	int64_t remaining_ms;  /* -1: does not expire, or not known */
	int shared;          /* holds, or asks for, the read side or a permit */
	int waiting;     /* in line, not granted; order is the order of calls */
};

/* Report the parties of `lock` as the store sees them now; stale on arrival.
 * ENOTSUP without DLOCK_CAP_INSPECT. */
DLOCK_API int dlock_inspect(dlock_lock *lock,
			    void (*each)(const struct dlock_party *party,
					 void *arg),
			    void *arg, int64_t timeout_ms);

/* Take the lock away from whoever holds it: they learn of it as a loss, and
 * the next token is larger.  For operators: the holder may still be at work
 * until it has learnt, which takes at most a third of its lease.
 * ENOTSUP if the store cannot. */
DLOCK_API int dlock_break(dlock_lock *lock, int64_t timeout_ms);

/* A lock that somebody holds, waits for, or has used and the store remembers.
 * Borrowed for the call of `each`. */
struct dlock_entry {
	size_t size;
	const char *name;
	const char *kind;      /* "mutex", "rwlock", "semaphore" */
	uint32_t permits;      /* of a semaphore, else 0 */
};

/* Report the locks that the store knows under the URI's prefix, in no order.
 * ENOTSUP without DLOCK_CAP_LIST. */
DLOCK_API int dlock_list(dlock_client *client,
			 void (*each)(const struct dlock_entry *entry,
				      void *arg),
			 void *arg, int64_t timeout_ms);

/* What a client has done since it was opened.  Counters never go back. */
struct dlock_stats {
	size_t size;
	uint64_t asked;        /* acquires that asked the store */
	uint64_t granted;
	uint64_t busy;         /* ... that ended EBUSY */
	uint64_t attempts;     /* requests for a claim sent to the store */
	uint64_t wakes;        /* waiters woken by the store */
	uint64_t polls;        /* attempts made because a backoff time, or one
				* that the store had set, was up */
	uint64_t released;
	uint64_t lost;
	uint64_t renewed;      /* leases restarted or found to stand */
	uint64_t renew_failed; /* renewals that brought no answer */
	uint64_t renew_late;   /* renewals begun with under half a lease left */
	uint64_t holds;        /* held now */
	uint64_t waiters;      /* waiting now */
	uint64_t remnants;   /* claims being cleaned up in the background now */
};

/* Fill in `out`, whose `size` the caller has set. */
DLOCK_API int dlock_get_stats(dlock_client *client, struct dlock_stats *out);

/* A store this library knows; borrowed for the call of `each`. */
struct dlock_store {
	size_t size;
	const char *scheme;
	const char *summary;
	const char *missing;   /* NULL if built in, else what would build it */
	uint32_t caps;         /* the most it can promise; 0 if not built in */
};

/* A parameter that a URI of a scheme may carry; borrowed likewise. */
struct dlock_store_param {
	size_t size;
	const char *name;
	const char *type; /* "duration", "number", "switch", "choice", "text" */
	const char *range;     /* "10ms to 24h", "text|meta|auto", or "" */
	const char *def;       /* as it would stand in a URI; "" for none */
	const char *text;      /* one sentence */
};

DLOCK_API void dlock_each_store(void (*each)(const struct dlock_store *store,
					     void *arg),
				void *arg);

/* The parameters of `scheme`, the common ones first; EINVAL: no such scheme. */
DLOCK_API int dlock_each_param(const char *scheme,
			       void (*each)(const struct dlock_store_param *p,
					    void *arg),
			       void *arg);

/* The code's name ("EBUSY"), its text, and this thread's last message.
 * Static; the last is valid until the thread's next failing call. */
DLOCK_API const char *dlock_errname(int code);
DLOCK_API const char *dlock_strerror(int code);
DLOCK_API const char *dlock_errmsg(void);

DLOCK_API const char *dlock_version(void);

#ifdef __cplusplus
}
#endif
#endif
