/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock/backend.h - what a store must do to become a backend.
 *
 * The core owns everything that is the same for every store: URIs, names,
 * threads and re-entrancy, deadlines, waiting, cancelling, retry and backoff,
 * renewing, deciding that a lease has run out, cleaning up after a lost reply,
 * multi-locks, events, statistics.
 * A backend owns the store: how to ask for a claim, how to keep it, how to give
 * it up.
 *
 * RULES
 *  1. The core holds no lock of its own when it calls a backend.  A backend may
 *     therefore call the services below with its own locks held.
 *  2. Calls for different tickets may come at once, from any thread; calls for
 *     one ticket never overlap.  Only one thread at a time is in renew(); no
 *     other call is under way during open(), release_all() and close().
 *  3. Every call returns by `deadline`, whatever the peer does: silence, one
 *     byte a second, a signal every millisecond.  After an answer that makes no
 *     sense a connection is never used again, nor after a timeout, unless the
 *     late answer can be told from later answers.  See dlk_deadline().
 *  4. A zeroed ticket holds nothing.  release() must accept a ticket in any
 *     state: never asked, queued, granted, or unknown because a reply was lost.
 *  5. A wake may be late, spurious or doubled, and may name a ticket that no
 *     longer exists.  It must never be missing.  See attempt().
 *  6. The core never calls a backend in a forked child.  Open descriptors
 *     close-on-exec, and start threads with dlk_thread().
 *  7. No call waits for others to release a lock: attempt() answers BUSY, and
 *     the core waits.  A call may sleep and repeat a request if the answer
 *     itself needs that: for a connection, after one was lost, until the store
 *     has confirmed a subscription, while another process changes a file.  All
 *     of it together ends by the deadline, as dlk_deadline() has it.  If a
 *     request may arrive twice, set dlk_ticket.resent.
 *  8. A backend does not decide that a hold's lease has run out: the core does,
 *     from dlk_ticket.since and lease_ms, which never promise more than the
 *     store keeps.  A backend may use clocks for what belongs to the store:
 *     when to poll, when the claims of others end, whether a late answer still
 *     counts.  What such a clock can be wrong by is part of margin_ms.
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

#define DLK_MS INT64_C(1000000) /* a millisecond of dlk_time */
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

/* The value of a parameter in the scheme's table or the common one; the default
 * if the URI has none.  dlk_param_text() may return NULL.  dlk_param_given():
 * is the parameter in the URI itself? */
DLOCK_API int64_t dlk_param_int(const struct dlk_uri *uri, const char *name);
DLOCK_API const char *dlk_param_text(const struct dlk_uri *uri,
				     const char *name);
DLOCK_API int dlk_param_given(const struct dlk_uri *uri, const char *name);

/* ---- Requests ------------------------------------------------------------ */

enum dlk_kind { DLK_LOCK, DLK_SEMAPHORE };

/*
 * A lock is EXCLUSIVE, or SHARED without a limit.  Mutexes and read-write locks
 * are handles of it: a mutex only ever asks for EXCLUSIVE.  A semaphore is
 * SHARED with a limit.
 */
enum dlk_mode { DLK_EXCLUSIVE, DLK_SHARED };

/* Only downgrade() changes it during the life of a ticket; borrowed. */
struct dlk_request {
	const char *name;  /* already checked */
	const char *key;   /* injective encoding of kind and name: [0-9a-z],
			    * 2 to 64 bytes, first byte the kind's letter */
	const char *owner; /* 128 random bits as 32 hex digits, new for every
			    * request; NULL for inspect() and break_() */
	const char *label; /* for people */
	enum dlk_kind kind;
	enum dlk_mode mode;
	uint32_t limit;    /* DLK_SHARED: most holders at once, 0: any number */
	int holders_only;  /* inspect(): waiters need not be reported */
	uint32_t permits;  /* of a semaphore: how many are asked for, 0 is 1;
			    * more than 1 only with DLOCK_CAP_PERMITS */
	const char *beside; /* an upgrade: EXCLUSIVE, for the session that has
			    * the SHARED claim of this owner; NULL: none.  Only
			    * with DLOCK_CAP_UPGRADE */
};

/* First member of the backend's own session and ticket structures, which the
 * core allocates, zeroes and frees: see session_size and ticket_size. */
struct dlk_session {
	const struct dlock_backend *backend;
	const struct dlk_uri *uri;
	const char *label;  /* the client's, for people */
	uint32_t caps;      /* in: the backend's; open() may clear some */
	int64_t ttl_ms;     /* in: the lease that the URI asks for.  open() may
			     * set what the store agreed to; 0: nothing
			     * expires */
	int64_t margin_ms;  /* out: taken off every lease for the store's own
			     * granularity; the core takes more if it must */
	int64_t check_ms;   /* out, if nothing expires: how often renew() is to
			     * check that claims still stand; 0: never */
	int64_t poll_min_ms, poll_max_ms; /* in: range of the core's backoff;
			     * open() may change it */
	void *core;
	int64_t linger_ms;  /* out: for how long beyond its lease the claim of a
			     * dead holder may stand in the store */
};

struct dlk_ticket {
	struct dlk_session *session;
	uint64_t id;        /* for dlk_wake() and dlk_lost() */
	struct dlk_request request;
	uint64_t token;     /* out, on GRANTED: fencing token or 0 */
	dlk_time look_again;/* out, on BUSY: the time of the next attempt, see
			     * attempt(); 0: none */
	dlk_time since;     /* on GRANTED and RENEWED: when the request that
			     * brought the lease was sent.  Preset to the
			     * beginning of the call.  Set it if the request was
			     * sent earlier, or later, as after a wait for one's
			     * own connection */
	int64_t lease_ms;   /* ... and the length of the lease.  Preset to the
			     * session's ttl_ms; may be set lower */
	dlk_time renew_from;/* out, on GRANTED and RENEWED: an earlier renewal
			     * would not extend the lease; 0: any may.  Preset
			     * to 0 */
	int settled;        /* out, on FAILED: no request of this call can
			     * still reach the store.  Preset to 0: the core
			     * cleans up after it for a whole lease */
	int resent;         /* out, on GRANTED and BUSY: the call sent more
			     * requests than were answered, and these may still
			     * arrive.  Then the core keeps releasing the claim
			     * for a lease after its end.  Preset to 0 */
	int last;           /* in: the caller's deadline has come, and this
			     * attempt's answer is the one that it gets */
	uint64_t token_last; /* out of watch_wanted(): the end of the claim's
			     * range of tokens */
	uint64_t token_used; /* in, on release(), release_all(), downgrade():
			     * the largest token of that range that a holder
			     * was given; 0: none but `token` */
	dlk_time overtime;  /* out of attempt(), with `last`: more time than
			     * until the deadline.  Preset to 0 */
};

/* In microseconds: see watch_wanted(). */
#define DLK_TOKENS_AHEAD (UINT64_C(1) << 22)

#define DLK_SENT 1 /* of release_begin() */

enum dlk_verdict { DLK_GRANTED, DLK_BUSY, DLK_FAILED };
enum dlk_renewal { DLK_UNKNOWN, DLK_RENEWED, DLK_STANDS, DLK_GONE };

/* A call that the core is about to make: see prepare(). */
struct dlk_coming {
	struct dlk_ticket *ticket;
	int release;       /* release(); 0: attempt(), the ticket's first */
	dlk_time deadline; /* of the call */
};

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
	 * Connect, and do not return before the store has answered.  Returns 0,
	 * or what dlk_fail() returned.  A failed open() must leave nothing
	 * behind: close() is not called then.  After EUNREACHABLE it is called
	 * again, with a fresh session, until the deadline.  Must be provided.
	 */
	int (*open)(struct dlk_session *s, dlk_time deadline,
		    struct dlk_error *err);

	/*
	 * Stop the backend's threads, then disconnect.  After it has returned,
	 * the backend calls no service for this session, not even from a thread
	 * that could not be stopped by `deadline` and was left behind.  Every
	 * ticket has been given to release() or release_all() before.  Must be
	 * provided.
	 */
	void (*close)(struct dlk_session *s, dlk_time deadline);

	/*
	 * Ask for the claim; another attempt continues the same request.  Must
	 * be provided.
	 *
	 * GRANTED  It is ours.  An attempt for what is already ours is GRANTED,
	 *          too.
	 * BUSY     Others have it.  Any change after the store evaluated the
	 *          request must produce a dlk_wake(): subscribe before you
	 *          check.  If you cannot guarantee that, set look_again to the
	 *          time of the next attempt.  A store without DLOCK_CAP_WAKE
	 *          that leaves it 0 is polled, with backoff.
	 *          If what is in the way will not go by itself, dlk_fail() with
	 *          EBUSY says what it is, for the caller's message.
	 * FAILED   See err; the claim may or may not stand.  The core retries
	 *          after EUNREACHABLE, until the caller's deadline.  Every
	 *          other failure is final.
	 *
	 * With `last`, a backend may take longer than `deadline` for a bounded
	 * time if the store answers: to make what the request needs there, or
	 * to wait for other clients' tries.  It adds that to `overtime`, and
	 * the call ends as much later.
	 *
	 * With DLOCK_CAP_SHARED, readers do not starve a waiting writer: a
	 * reader that comes after it is BUSY until the writer has had its turn.
	 * With DLOCK_CAP_COUNT, the limit belongs to the lock: a request with
	 * another limit while the semaphore is in use fails with EINVAL, and
	 * the message names the semaphore, its limit and the one asked for;
	 * unless resize() has set it.
	 * With DLOCK_CAP_PERMITS, a request for several permits gets all at
	 * once or none, and is not overtaken by those that come after it, even
	 * without DLOCK_CAP_FAIR.  If it is for more than there are, since
	 * resize(), it fails with EINVAL, and keeps nobody from the permits.
	 * With DLOCK_CAP_UPGRADE, a request with `beside` is not kept from the
	 * lock by that claim, and comes before all that wait: it is granted
	 * when no other claim holds the lock, and until then nobody else is.
	 * Both claims stand then, each by itself: either may end first, and
	 * the other excludes others as before.  If the claim of `beside` does
	 * not stand, the request is as any EXCLUSIVE one.
	 */
	enum dlk_verdict (*attempt)(struct dlk_ticket *t, dlk_time deadline,
				    struct dlk_error *err);

	/*
	 * Extend `n` granted claims, or prove that the session keeps them, in
	 * as few round trips as the store allows.  For each: RENEWED restarts
	 * the lease; STANDS means that the claim stands but was not extended;
	 * GONE that it does not stand; UNKNOWN, which is preset, that nothing
	 * is known.  Must check the owner: never extend, and never re-create,
	 * what another owner may have taken.  Must be provided if claims expire
	 * or check_ms is set.  Called from one thread at a time.
	 */
	void (*renew)(struct dlk_session *s, struct dlk_ticket *const t[],
		      enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err);

	/*
	 * Give up the claim, whatever its state, and forget the ticket: free
	 * what it owns in this process, whatever the result.  If nothing was
	 * ever sent, do no I/O.  0: the store holds nothing of ours.  ELOST:
	 * the store held nothing before either, though it had granted the
	 * claim.  That needs proof: not if an earlier request to release the
	 * claim may have been carried out.  After any other code the claim may
	 * still stand, and the core calls again until its lease has run out.
	 * Must check the owner.  Idempotent.  Must be provided.
	 */
	int (*release)(struct dlk_ticket *t, dlk_time deadline,
		       struct dlk_error *err);

	/*
	 * Turn a granted EXCLUSIVE claim into a SHARED one without a moment in
	 * between, set request.mode, and wake the waiters that may now share
	 * it.  After a failure the claim is still EXCLUSIVE; ELOST: it did not
	 * stand.  NULL: the core keeps the exclusive claim until the read side
	 * is released as well.
	 */
	int (*downgrade)(struct dlk_ticket *t, dlk_time deadline,
			 struct dlk_error *err);

	/*
	 * Report the holders, then the waiters, each with the label of its
	 * request.  A waiter's token is 0; a free lock has nobody.  With
	 * DLOCK_CAP_FAIR all waiters are reported, in order; a store without a
	 * wait queue need not know them.  `each` copies, and may be called with
	 * any lock held.  Of a semaphore, `permits` 0 means one, and `limit` 0
	 * the request's.  Provided if and only if caps has DLOCK_CAP_INSPECT.
	 */
	int (*inspect)(struct dlk_session *s, const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err);

	/* Report the locks under the prefix, likewise.  Provided if and only if
	 * caps has DLOCK_CAP_LIST. */
	int (*list)(struct dlk_session *s,
		    void (*each)(const struct dlock_lock_info *e, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err);

	/* Take the lock away from its holders, which learn of it as a loss; 0
	 * if it was free, too.  The next token is larger than every one
	 * granted.  NULL: the store cannot. */
	int (*break_)(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);

	/*
	 * Give up all that the session still has, as release() does for each of
	 * the `n` tickets, in as few round trips as the store allows.
	 * dlock_close() calls it at most once, right before close(); no other
	 * call is under way, and none comes in between.  So a store that frees
	 * claims when close() ends the session only forgets the tickets here.
	 * A ticket may be in any state, as for release().  Claims that the
	 * store has not confirmed by `deadline` are left to their lease.  Free
	 * what the tickets own in this process in any case.  NULL: the core
	 * calls release() for each in turn, and many holds may not fit into the
	 * time that dlock_close() has.
	 */
	void (*release_all)(struct dlk_session *s, struct dlk_ticket *const t[],
			    size_t n, dlk_time deadline);

	/*
	 * Take in what has come on the descriptor that dlk_listen() named, and
	 * call dlk_wake(), dlk_lost() and so on for it.  Never blocks, and may
	 * find nothing.  Called from one thread at a time: the waiter that
	 * polls the descriptor, or a thread of the core's while none does.  It
	 * may come at any time between dlk_listen() and close(), also right
	 * after dlk_listen() has named another descriptor or none.  NULL: the
	 * backend has threads that hear.
	 */
	void (*pump)(struct dlk_session *s);

	/*
	 * The client wants a granted EXCLUSIVE claim for more than one hold: it
	 * passes it from one of its threads to the next, or keeps it for a
	 * while though nobody holds it.  From now on until release(), call
	 * dlk_wanted() when another session asks for what the claim excludes,
	 * also if that request is a try that does not wait, and when another
	 * session breaks the lock.  Listen before you look.  Requests of the
	 * ticket's own session do not count.
	 *
	 * Set token_last as well: the store gives token + 1 to token_last to
	 * nobody else, whatever becomes of the claim.  It is at most
	 * DLK_TOKENS_AHEAD ahead of the store's clock, so that tokens stay near
	 * that.  After release() the next token need only be larger than
	 * token_used.  If the store cannot set tokens aside, token_last is
	 * `token`, and the claim is not passed on.  A second call for the same
	 * claim asks for more tokens: token_last never falls.
	 *
	 * 1: another session asks already; 0: none does; < 0: see err, and the
	 * claim is released as usual.
	 *
	 * Must be provided if caps has DLOCK_CAP_WANTED.  Without that
	 * capability the store need not tell at once, and of requests that do
	 * not wait it need not tell at all; dlk_wanted() may come from renew().
	 * The core then calls this for holders that want to know, and passes
	 * and keeps nothing.
	 */
	int (*watch_wanted)(struct dlk_ticket *t, dlk_time deadline,
			    struct dlk_error *err);

	/*
	 * Have dlk_wanted() called for every claim of this lock that is
	 * watched, in whatever session it is: somebody asks the holder to give
	 * it up.  OK if there is none.  Provided together with watch_wanted.
	 */
	int (*revoke)(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);

	/*
	 * As release() for a granted claim that is asked for once, but return
	 * when the request is sent: DLK_SENT.  The answer comes later, by
	 * dlk_released().  Anything else is as release() returns it, and no
	 * answer follows.  If the core cannot wait for the answer any longer,
	 * it calls release(), also without an answer in between.
	 *
	 * The answer costs no round trip of its own: take it in when the next
	 * one on the same connection comes, or when the core calls release().
	 * NULL: with release=async in the URI the client cannot be opened,
	 * unless the store is without DLOCK_CAP_REMOTE.
	 */
	int (*release_begin)(struct dlk_ticket *t, dlk_time deadline,
			     struct dlk_error *err);

	/*
	 * Set the limit of a semaphore that somebody holds a permit of, or
	 * waits for, to request->limit, and wake the waiters whose turn it may
	 * be now.  From then on, until nobody uses the semaphore, that number
	 * counts at each grant, and a request with any other number is served.
	 * Holders beyond it keep their permits.  EINVAL, without a text: nobody
	 * uses the semaphore.  Provided if and only if caps has
	 * DLOCK_CAP_RESIZE.
	 */
	int (*resize)(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);

	/*
	 * The core is about to make these `n` calls, one after the other.
	 * Queue the requests, so that they go out together with the first: then
	 * the calls share a round trip.  Never blocks.  May do nothing for any
	 * of the tickets.  The core may leave an attempt() out, for want of
	 * time or after a cancel: then release() or release_all() comes for the
	 * ticket, and the request may have been sent.  NULL: each call asks by
	 * itself.
	 */
	void (*prepare)(struct dlk_session *s, const struct dlk_coming coming[],
			size_t n);

	/* New members go here; `size` says whether a backend has them. */
};

/*
 * Add a backend, for the life of the process; `backend` is borrowed.
 * EINVAL: a mandatory member is missing, a pair incomplete, a scheme ill-formed
 * or taken, a parameter ill-formed; dlock_errmsg() says which.
 */
DLOCK_API int dlock_backend_register(const struct dlock_backend *backend);

/* ---- Backends in shared objects ------------------------------------------ */

/* Such a shared object exports one symbol, `dlock_backend_v1`: the versions and
 * sizes that it was compiled with, and the backend.  Define it with
 * DLOCK_MODULE(). */
struct dlock_module {
	size_t size;          /* sizeof(struct dlock_module) */
	uint32_t major, minor; /* of the dlock that it was compiled against */
	size_t session_size;  /* sizeof(struct dlk_session) */
	size_t ticket_size;   /* sizeof(struct dlk_ticket) */
	const struct dlock_backend *backend;
};

#define DLOCK_MODULE(backend_)                                                \
	DLOCK_API extern const struct dlock_module dlock_backend_v1;          \
	const struct dlock_module dlock_backend_v1 = {                        \
		.size = sizeof(struct dlock_module),                          \
		.major = DLOCK_VERSION_MAJOR,                                 \
		.minor = DLOCK_VERSION_MINOR,                                 \
		.session_size = sizeof(struct dlk_session),                   \
		.ticket_size = sizeof(struct dlk_ticket),                     \
		.backend = (backend_),                                        \
	}

/*
 * Load a shared object and register its backend, for the life of the process.
 * `file` is a path, absolute or relative to the working directory; there is no
 * search path.  Its code runs with the rights of the program.  So dlock refuses
 * a file, or a directory on its path, that any user but root and the caller may
 * write.  Loading the same file again is harmless.
 * EINVAL: not a shared object, not a backend, compiled against another minor
 * version, or refused by dlock_backend_register(); EDENIED: others may write
 * it.  dlock_errmsg() says which, and what to do.
 */
DLOCK_API int dlock_backend_load(const char *file);

/* ---- Services: from any thread, with any lock held ----------------------- */

/* Something changed for this waiter: the core makes another attempt. */
DLOCK_API void dlk_wake(struct dlk_session *s, uint64_t id);

/* This claim no longer stands, or none of the session's claims does. */
DLOCK_API void dlk_lost(struct dlk_session *s, uint64_t id, const char *why);
DLOCK_API void dlk_lost_all(struct dlk_session *s, const char *why);

/* Another session asks for what this claim excludes: see watch_wanted().  May
 * be late, spurious or doubled, and may name a claim that has ended.  If one is
 * missing, that session waits until the claim is released for another
 * reason. */
DLOCK_API void dlk_wanted(struct dlk_session *s, uint64_t id);

/*
 * The answer to the release of this claim that was begun with release_begin():
 * what release() would have returned.  May come before that call returns, and
 * may name a claim that has ended.
 */
DLOCK_API void dlk_released(struct dlk_session *s, uint64_t id, int rc);

/* The session has another server now, which may know none of its claims: the
 * core renews every hold at once, and every waiter makes another attempt. */
DLOCK_API void dlk_verify_all(struct dlk_session *s);

/*
 * From now on the core polls `fd`, and calls pump() when it is readable; < 0:
 * no descriptor.  The thread that waits for a lock polls it itself, so that a
 * wake-up passes through no other thread.  Call this before you close the
 * descriptor that it named last.  For one thread at a time, not from pump().
 * 0, or ESYSTEM: then the core polls nothing.
 */
DLOCK_API int dlk_listen(struct dlk_session *s, int fd, struct dlk_error *err);

DLOCK_API dlk_time dlk_now(void);

/*
 * The store has answered a request, at `answered`, that was sent at `sent`, and
 * that waited for nothing else.  From this the core learns how far away the
 * store is, and gives requests as long beyond the caller's deadline as an
 * answer takes; without it, 40 ms, or what the URI says in `ask`.  Tell of
 * requests like an attempt's: one answer in open() is enough for a beginning.
 */
DLOCK_API void dlk_answered(struct dlk_session *s, dlk_time sent,
			    dlk_time answered);

/*
 * The present deadline of the call that this thread is in, which began with
 * `deadline`.  dlock_cancel() brings forward the deadline of attempt(), and of
 * the release() after it, because the caller no longer wants the answer.  Call
 * this every 20 ms or so while you wait for the store; otherwise the thread
 * that cancels must wait, too.
 */
DLOCK_API dlk_time dlk_deadline(dlk_time deadline);

/* Fill in err (may be NULL) and return code. */
DLOCK_API int dlk_fail(struct dlk_error *err, int code, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/*
 * level as in dlock_log_fn.  The text must hold no secret, and is cut to 511
 * bytes.  The core only queues the line, and calls the program's sink later,
 * from a thread that is not in the backend: the caller's, when its call of the
 * backend has returned, or for a store's own threads a thread of the core's.
 * Lines are delivered in order.  While a sink does not return, the core keeps
 * 256 lines, and then tells the sink how many it dropped.
 */
DLOCK_API void dlk_log(struct dlk_session *s, int level, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/* Start a joinable thread with every signal blocked; `name` is cut to 15
 * bytes.  0 or an errno value. */
DLOCK_API int dlk_thread(pthread_t *out, const char *name,
			 void *(*run)(void *arg), void *arg);

/* One participant in a store's wait queue. */
struct dlk_queue_entry {
	enum dlk_mode mode;
	uint32_t limit;
	uint32_t permits; /* of SHARED with a limit; 0 is 1 */
};

/*
 * The grant rule, for stores with a wait queue.  `queue` has the participants
 * that asked before `me`, holders and waiters, in order.  EXCLUSIVE is granted
 * if there are none; SHARED if there is no EXCLUSIVE and the permits of all
 * SHARED, with those of `me`, are `limit` at most.  Nobody may ask for more
 * than that alone.  Returns -1 for granted, else the index of the last one that
 * is in the way.  Without a limit it is enough to watch that one.  With a
 * limit, the end of any SHARED ahead may change the answer.
 */
DLOCK_API ptrdiff_t dlk_grant(const struct dlk_queue_entry *queue, size_t ahead,
			      struct dlk_queue_entry me);

#ifdef __cplusplus
}
#endif
#endif
