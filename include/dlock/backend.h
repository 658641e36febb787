/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock/backend.h - what a store must do to become a backend.
 *
 * The core owns everything that is the same for every store: URIs, names,
 * threads and re-entrancy, deadlines, waiting, cancelling, retry and backoff,
 * renewing, deciding that a lease has run out, cleaning up after a lost reply,
 * multi-locks, events, statistics.
 * A backend owns the store: how to ask for a claim, how to keep it, how to give
 * it up.  It never sleeps, never retries, and never looks at a clock to decide
 * anything but when its own I/O must stop.
 *
 * RULES
 *  1. The core holds no lock of its own when it calls a backend.  A backend may
 *     therefore call the services below with its own locks held.
 *  2. Calls for different tickets may come at once, from any thread; calls for
 *     one ticket never overlap.  open and close are alone.
 *  3. Every call returns by `deadline`, whatever the peer does: silence, one
 *     byte a second, a signal every millisecond.  A connection on which a call
 *     timed out or met nonsense is never used again.
 *  4. A zeroed ticket holds nothing.  release() must accept a ticket in any
 *     state: never asked, queued, granted, or unknown because a reply was lost.
 *  5. A wake may be late, spurious or doubled, and may name a ticket long gone;
 *     it must never be missing.  See attempt().
 *  6. The core never calls a backend in a forked child.  Descriptors are opened
 *     close-on-exec; threads are started with dlk_thread().
 *
 * This header may change in any minor release; dlock.h may not.
 */
#ifndef DLOCK_BACKEND_H
#define DLOCK_BACKEND_H

#include <dlock/dlock.h>
#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t dlk_time; /* CLOCK_BOOTTIME, nanoseconds */
#define DLK_FOREVER INT64_MAX

struct dlk_error { /* filled with dlk_fail() */
	int code;
	char text[240];
};

/* ---- URIs ---------------------------------------------------------------- */

struct dlk_host {
	const char *name; /* host name or address, IPv6 without its brackets */
	uint16_t port;    /* 0: none was given */
};

/* A parsed URI: percent-decoded, checked, never changed.  Strings that were not
 * given are NULL. */
struct dlk_uri {
	const char *scheme;
	const char *user;
	const char *password; /* of the URI, password_file, or options */
	const struct dlk_host *hosts;
	size_t n_hosts;
	const char *path;     /* with its leading '/' */
	const char *shown;    /* the URI without its password */
	const struct dlk_values *values;
};

enum dlk_param_type {
	DLK_DURATION, /* "250ms", "30s", "2m", "1h": milliseconds */
	DLK_NUMBER,
	DLK_SWITCH,   /* "on", "off": 1, 0 */
	DLK_CHOICE,   /* one of `choices`, its place in the list from 0 */
	DLK_TEXT
};

/* A URI parameter.  Tables of these end in {0}; parser, range check,
 * `dlock backends` and the documentation come from them. */
struct dlk_param {
	const char *name;
	enum dlk_param_type type;
	const char *def;      /* as in a URI; NULL: none */
	int64_t min, max;     /* inclusive; of a DLK_TEXT its length in bytes */
	const char *choices;  /* "auto|text|meta" */
	const char *text;     /* one sentence for people */
};

/* The value of a parameter that the scheme's table, or the common one, lists;
 * the default where the URI says nothing.  dlk_param_text() may be NULL.
 * dlk_param_given(): does the URI itself say it? */
DLOCK_API int64_t dlk_param_int(const struct dlk_uri *uri, const char *name);
DLOCK_API const char *dlk_param_text(const struct dlk_uri *uri,
				     const char *name);
DLOCK_API int dlk_param_given(const struct dlk_uri *uri, const char *name);

/* ---- What is asked for --------------------------------------------------- */

enum dlk_kind { DLK_MUTEX, DLK_RWLOCK, DLK_SEMAPHORE };

/*
 * Kinds are modes of one request.  A mutex is asked EXCLUSIVE; a read-write
 * lock EXCLUSIVE or SHARED without a limit; a semaphore SHARED with one.
 */
enum dlk_mode { DLK_EXCLUSIVE, DLK_SHARED };

/* Constant for the life of a ticket but for downgrade(); borrowed. */
struct dlk_claim {
	const char *name;  /* already checked */
	const char *key;   /* injective encoding of kind and name: [0-9a-z],
			    * 2 to 64 bytes, first byte the kind's letter */
	const char *owner; /* 128 random bits as 32 hex digits, new for every
			    * request; NULL for inspect() and break_() */
	const char *label; /* for people */
	enum dlk_kind kind;
	enum dlk_mode mode;
	uint32_t limit;    /* DLK_SHARED: most holders at once, 0: any number */
};

/* First member of the backend's own session and ticket structures, which the
 * core allocates, zeroes and frees: see session_size and ticket_size. */
struct dlk_session {
	const struct dlock_backend *backend;
	const struct dlk_uri *uri;
	const char *label;  /* the client's, for people */
	uint32_t caps;      /* in: the backend's; open() may clear some */
	int64_t ttl_ms;    /* in: the lease wished for.  open() may set what the
			     * store agreed to; 0: nothing expires */
	int64_t margin_ms;  /* out: taken off every lease for the store's own
			     * granularity; the core takes more if it must */
	int64_t check_ms;   /* out, if nothing expires: how often renew() is to
			     * look whether claims still stand; 0: never */
	int64_t poll_min_ms, poll_max_ms; /* in: range of the core's backoff;
			     * open() may change it */
	void *core;
};

struct dlk_ticket {
	struct dlk_session *session;
	uint64_t id;        /* name it by this in dlk_wake(), dlk_lost() */
	struct dlk_claim claim;
	uint64_t token;     /* out, on GRANTED: fencing token or 0 */
	dlk_time look_again;/* out, on BUSY: see attempt(); 0: no wish */
	dlk_time since;     /* on GRANTED and RENEWED: when the request that
			     * brought the lease was sent.  Preset to the
			     * beginning of the call; may be set earlier */
	int64_t lease_ms;   /* ... and for how long.  Preset to the session's
			     * ttl_ms; may be set lower */
	int settled;        /* out, on FAILED: no request of this call can
			     * reach the store any more.  Preset to 0: the
			     * core cleans up behind it for a whole lease */
};

enum dlk_verdict { DLK_GRANTED, DLK_BUSY, DLK_FAILED };
enum dlk_lease { DLK_UNKNOWN, DLK_RENEWED, DLK_STANDS, DLK_GONE };

/* ---- The backend --------------------------------------------------------- */

struct dlock_backend {
	size_t size;                /* sizeof(struct dlock_backend) */
	const char *const *schemes; /* {"redis", "valkey", NULL} */
	const char *summary;        /* one line for `dlock backends` */
	uint32_t caps;              /* DLOCK_CAP_ bits; see dlk_session.caps */
	const struct dlk_param *params; /* ends in {0}; or NULL */
	size_t session_size;      /* of a struct that begins with dlk_session */
	size_t ticket_size;        /* of a struct that begins with dlk_ticket */

	/*
	 * Connect, and do not return before the store has answered.  0, or what
	 * dlk_fail() returned; after a failure close() is not called, and
	 * nothing may be left behind.  Must be provided.
	 */
	int (*open)(struct dlk_session *s, dlk_time deadline,
		    struct dlk_error *err);

	/*
	 * Stop the backend's threads, then disconnect.  Once it has returned no
	 * service is called for this session.  Every ticket was released, or
	 * given up at `deadline` by the core.  Must be provided.
	 */
	void (*close)(struct dlk_session *s, dlk_time deadline);

	/*
	 * Ask for the claim; asking again continues the same request.  Must be
	 * provided.
	 *
	 * GRANTED  It is ours.  Asking for what is already ours is GRANTED too.
	 * BUSY     Others have it.  Any change after the store looked must
	 *          lead to a dlk_wake() - so subscribe first, then look - or,
	 *          failing that, look_again must name a time to ask.  A store
	 *          that cannot wake leaves it: the core polls, with backoff.
	 * FAILED   See err; the claim may or may not stand.  EUNREACHABLE is
	 *          retried until the caller's deadline, anything else is final.
	 */
	enum dlk_verdict (*attempt)(struct dlk_ticket *t, dlk_time deadline,
				    struct dlk_error *err);

	/*
	 * Keep `n` granted claims, or prove that the session keeps them, in as
	 * few round trips as the store allows.  For each: RENEWED restarts the
	 * lease; STANDS says it stands but was not extended; GONE says it does
	 * not stand; UNKNOWN, preset, says nothing.  Must check the owner:
	 * never extend, and never re-create, what another may have taken.
	 * Must be provided if claims expire or check_ms is set.  Called from
	 * one thread at a time.
	 */
	void (*renew)(struct dlk_session *s, struct dlk_ticket *const t[],
		      enum dlk_lease verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err);

	/*
	 * Give up the claim, whatever its state, and forget the ticket: what it
	 * owns in this process is freed by this call, whatever it returns.  0:
	 * the store holds nothing of ours.  ELOST: nor did it before, though it
	 * had granted the claim; only with proof, so not when an earlier
	 * request to release it may have been carried out.  Else the claim may
	 * linger, and the core asks again until its lease has run out.  Must
	 * check the owner.  Idempotent.  Must be provided.
	 */
	int (*release)(struct dlk_ticket *t, dlk_time deadline,
		       struct dlk_error *err);

	/*
	 * Turn a granted EXCLUSIVE claim into a SHARED one without a moment in
	 * between, say so in claim.mode, and wake who may now share it.  After
	 * a failure it is EXCLUSIVE still; ELOST: it did not stand.  NULL: the
	 * core keeps the exclusive claim until the read side is released as
	 * well.
	 */
	int (*downgrade)(struct dlk_ticket *t, dlk_time deadline,
			 struct dlk_error *err);

	/* Report who holds and who waits.  Provided if and only if caps has
	 * DLOCK_CAP_INSPECT. */
	int (*inspect)(struct dlk_session *s, const struct dlk_claim *claim,
		       void (*each)(const struct dlock_party *p, void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err);

	/* Report the locks that there are.  Provided if and only if caps has
	 * DLOCK_CAP_LIST. */
	int (*list)(struct dlk_session *s,
		    void (*each)(const struct dlock_entry *e, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err);

	/* Free the lock whoever holds it; the next token is larger than every
	 * one granted, and the holder learns of it as a loss.  NULL: the store
	 * cannot. */
	int (*break_)(struct dlk_session *s, const struct dlk_claim *claim,
		      dlk_time deadline, struct dlk_error *err);

	/* New members go here; `size` says whether a backend has them. */
};

/*
 * Add a backend, for the life of the process; `backend` is borrowed.
 * EINVAL: a mandatory member is missing, a pair incomplete, a scheme ill-formed
 * or taken, a parameter ill-formed; dlock_errmsg() says which.
 */
DLOCK_API int dlock_backend_register(const struct dlock_backend *backend);

/* ---- Services: from any thread, with any backend lock held --------------- */

/* Something changed for this waiter: the core asks again. */
DLOCK_API void dlk_wake(struct dlk_session *s, uint64_t id);

/* This claim no longer stands, or none of the session's does. */
DLOCK_API void dlk_lost(struct dlk_session *s, uint64_t id, const char *why);
DLOCK_API void dlk_lost_all(struct dlk_session *s, const char *why);

DLOCK_API dlk_time dlk_now(void);

/* Fill in err (may be NULL) and return code. */
DLOCK_API int dlk_fail(struct dlk_error *err, int code, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/* level as in dlock_log_fn; the text must hold no secret.  The sink is the
 * user's and may, against the rule, wait for a thread that is about to call
 * you: where a lock is held that such a call takes, put it off. */
DLOCK_API void dlk_log(struct dlk_session *s, int level, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/* Start a joinable thread with every signal blocked; `name` is cut to 15
 * bytes.  0 or an errno value. */
DLOCK_API int dlk_thread(pthread_t *out, const char *name,
			 void *(*run)(void *arg), void *arg);

/* One in a store's line, in the order of asking. */
struct dlk_place {
	enum dlk_mode mode;
	uint32_t limit;
};

/*
 * The grant rule, for stores that keep a line: `line` holds the parties that
 * asked before `me`, holders and waiters alike, in order.  EXCLUSIVE is
 * granted when nobody is ahead; SHARED when no EXCLUSIVE is ahead and fewer
 * than `limit` SHARED are.  Returns -1 for granted, else the index of the last
 * one that stands in the way.  Without a limit, watching that one is enough;
 * with one, the going of any SHARED ahead may change the answer.
 */
DLOCK_API ptrdiff_t dlk_grant(const struct dlk_place *line, size_t ahead,
			      struct dlk_place me);

#ifdef __cplusplus
}
#endif
#endif
