/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock/backend.h - the interface between the core and a store's backend.
 *
 * The core owns the work that is common to all stores: URIs, names, threads and
 * re-entrancy, deadlines, waiting, cancelling, retry and backoff, renewing,
 * deciding that a lease has run out, cleaning up after a lost reply,
 * multi-locks, events, statistics.
 * A backend owns the store: how to ask for a claim, keep the claim, give it up.
 *
 * RULES
 *  1. The core holds no mutex when it calls a backend.  A backend may therefore
 *     call the services below with locks held.
 *  2. Calls for different tickets may come at once, from any thread; calls for
 *     the same ticket never overlap, except with renews_beside_watch.  A single
 *     thread at a time is in renew(); no other call is under way during open(),
 *     release_all() and close().
 *  3. Every call returns by `deadline`, whatever the peer does: silence, a byte
 *     a second, a signal every millisecond.  Waits for other processes count,
 *     local disk I/O and short mutexes do not.  Never use a connection again
 *     after an answer that makes no sense, nor after a timeout, unless the late
 *     answer can be told from later answers.  See dlk_deadline().
 *  4. A zeroed ticket holds nothing.  release() must accept a ticket in any
 *     state: never asked, queued, granted, or unknown because a reply was lost.
 *  5. A wake may be late, spurious or doubled, and may name a ticket that no
 *     longer exists.  A wake must never be missing.  See attempt().
 *  6. The core never calls a backend in a forked child.  Open descriptors
 *     close-on-exec, and start threads with dlk_thread().
 *  7. No call waits for others to release a lock: attempt() answers BUSY, and
 *     the core waits.  A call may sleep and repeat a request if the answer
 *     itself needs the time: for a connection, after a lost connection, until
 *     the store has confirmed a subscription, while another process changes a
 *     file.  All of this together ends by the deadline, as dlk_deadline() has
 *     it.  If a request may arrive twice, set dlk_ticket.resent.
 *  8. A backend does not decide that a hold's lease has run out: the core does,
 *     from dlk_ticket.since and lease_ms, which never promise more than the
 *     store keeps.  A backend may use clocks for matters of the store: when to
 *     poll, when the claims of others end, whether a late answer still counts.
 *     The error of such a clock is part of margin_ms.
 *
 * This header may change in any minor release; dlock.h may not.
 */
#ifndef DLOCK_BACKEND_H
#define DLOCK_BACKEND_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdbool.h>

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
	const char *name; /* host name or address, IPv6 without brackets */
	uint16_t port;    /* 0: not given */
};

/* A parsed URI: percent-decoded, checked, never changed.  Strings not given are
 * NULL. */
struct dlk_uri {
	const char *scheme;
	const char *user;
	const char *password; /* of the URI, password_file, or options */
	const struct dlk_host *hosts;
	size_t n_hosts;
	const char *path;     /* as written: "/p" of scheme:///p and scheme:/p,
			       * but "p" of scheme:p */
	const char *shown;    /* the URI without the password */
	const struct dlk_values *values;
};

enum dlk_param_type {
	DLK_DURATION, /* "250ms", "30s", "2m", "1h": milliseconds */
	DLK_NUMBER,
	DLK_SWITCH,   /* "on", "off": 1, 0 */
	DLK_CHOICE,   /* the index in `choices`, from 0 */
	DLK_TEXT
};

/* A URI parameter.  Tables of these end in {0}; parser, range check,
 * `dlock backends` and the documentation come from them. */
struct dlk_param {
	const char *name;
	enum dlk_param_type type;
	const char *def;      /* as in a URI; NULL: none */
	int64_t min, max;     /* inclusive; of a DLK_TEXT the length in bytes */
	const char *choices;  /* "auto|text|meta" */
	const char *text;     /* a sentence for people */
};

/* The value of a parameter in the scheme's table or the common one; the default
 * if the URI does not give it.  dlk_param_text() may return NULL.
 * dlk_param_given() says whether the URI itself has the parameter. */
DLOCK_API int64_t dlk_param_int(const struct dlk_uri *uri, const char *name);
DLOCK_API const char *dlk_param_text(const struct dlk_uri *uri,
				     const char *name);
DLOCK_API int dlk_param_given(const struct dlk_uri *uri, const char *name);

/* ---- Requests ------------------------------------------------------------ */

enum dlk_kind { DLK_LOCK, DLK_SEMAPHORE };

/*
 * A lock is EXCLUSIVE, or SHARED without a limit.  Mutexes and read-write locks
 * are handles of a lock: a mutex only ever asks for EXCLUSIVE.  A semaphore is
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
	uint32_t limit;    /* of a semaphore: most permits at once, 1 at least;
			    * of a lock 0 */
	int holders_only;  /* inspect(): waiters need not be reported */
	uint32_t permits;  /* of a semaphore: the number asked for, 0 is 1; more
			    * than 1 only with DLOCK_CAP_PERMITS.  Of a lock
			    * without a meaning */
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
			     * set the lease that the store agreed to; 0: claims
			     * do not expire */
	int64_t margin_ms;  /* out: taken off every lease for the store's
			     * granularity; the core takes more if necessary */
	int64_t check_ms;   /* out, if claims do not expire: how often renew()
			     * is to check them; 0: never */
	int64_t poll_min_ms, poll_max_ms; /* in: range of the core's backoff;
			     * open() may change it */
	void *core;
	int64_t linger_ms;  /* out: for how long beyond the lease a dead
			     * holder's claim may stand in the store */
	struct dlki_attendant *attendant; /* the core's: with
			     * DLOCK_CAP_NO_THREADS, of a client without
			     * threads; else NULL */
	int once;           /* in: the core does not call open() again, see
			     * dlock_options.once: do not wait for a server that
			     * refuses connections, either */
};

struct dlk_ticket {
	struct dlk_session *session;
	uint64_t id;        /* for dlk_wake() and dlk_lost() */
	struct dlk_request request;
	uint64_t token;     /* out, on GRANTED: fencing token or 0 */
	dlk_time look_again;/* out, on BUSY: the time of the next attempt, see
			     * attempt(); 0: not set */
	dlk_time since;     /* on GRANTED and RENEWED: when the request that
			     * brought the lease was sent.  Preset to the
			     * beginning of the call.  Set `since` if the
			     * request was sent earlier, or later, as after a
			     * wait for the connection */
	int64_t lease_ms;   /* ... and the length of the lease.  Preset to the
			     * session's ttl_ms; may be set lower */
	dlk_time renew_from;/* out, on GRANTED and RENEWED: an earlier renewal
			     * would not extend the lease; 0: any renewal may.
			     * Preset to 0 */
	bool settled;       /* out, on FAILED: no request of this call can still
			     * reach the store.  Preset to 0: the core cleans up
			     * for a whole lease */
	bool resent;        /* out, on GRANTED and BUSY: the call sent more
			     * requests than were answered, and these may still
			     * arrive.  Then the core keeps releasing the claim
			     * for a lease after its end.  Preset to 0 */
	bool last;          /* in: the caller's deadline has come, and the
			     * caller gets this attempt's answer */
	bool is_try;        /* in: the caller's timeout is 0 */
	bool no_wait;       /* in, on attempt(), release() and renew(): the
			     * caller does not wait for the answer, see LATER
			     * and PENDING.  0 for a backend without
			     * answers_later */
	uint64_t token_last; /* out of watch_wanted(): the end of the claim's
			     * range of tokens */
	uint64_t token_used; /* in, on release(), release_all(), downgrade():
			     * the largest token of the range that a holder was
			     * given; 0: only `token` */
	dlk_time overtime;  /* out of attempt(), with `is_try`: more time than
			     * until the deadline.  Preset to 0 */
};

/* In microseconds: see watch_wanted(). */
#define DLK_TOKENS_AHEAD (UINT64_C(1) << 22)

#define DLK_SENT 1 /* of release_begin() */

/* DLK_LATER is a result of release() as well. */
enum dlk_verdict { DLK_GRANTED, DLK_BUSY, DLK_FAILED, DLK_LATER };
enum dlk_renewal {
	DLK_UNKNOWN,
	DLK_RENEWED,
	DLK_STANDS,
	DLK_GONE,
	DLK_PENDING
};

/* ---- The backend --------------------------------------------------------- */

struct dlock_backend {
	size_t size;                /* sizeof(struct dlock_backend) */
	const char *const *schemes; /* {"redis", "valkey", NULL}: a-z first,
				     * then a-z, 0-9, '+', '-', '.'; 31 bytes
				     * at most */
	const char *summary;        /* a line for `dlock backends` */
	uint32_t caps;              /* DLOCK_CAP_ bits; see dlk_session.caps */
	const struct dlk_param *params; /* ends in {0}; or NULL */
	size_t session_size;      /* of a struct that begins with dlk_session */
	size_t ticket_size;        /* of a struct that begins with dlk_ticket */

	/*
	 * Connect, and do not return before the store has answered.  Returns 0,
	 * or the result of dlk_fail().  A failed open() must free everything it
	 * made: close() is not called then.  After EUNREACHABLE the core calls
	 * open() again, with a fresh session, until the deadline.  Must be
	 * provided.
	 */
	int (*open)(struct dlk_session *s, dlk_time deadline,
		    struct dlk_error *err);

	/*
	 * Stop the backend's threads, then disconnect.  After close() has
	 * returned, the backend calls no service for this session, not even
	 * from a thread left behind that did not stop by `deadline`.  The core
	 * has given every ticket to release() or release_all() before.  Must be
	 * provided.
	 */
	void (*close)(struct dlk_session *s, dlk_time deadline);

	/*
	 * Ask for the claim; another attempt continues the same request.  Must
	 * be provided.
	 *
	 * GRANTED  The claim is ours.  An attempt for a claim already ours is
	 *          GRANTED, too.
	 * BUSY     Others have the claim.  Any change after the store evaluated
	 *          the request must produce a dlk_wake(): subscribe before you
	 *          check.  If you cannot guarantee the wake, set look_again to
	 *          the time of the next attempt.  If a store without
	 *          DLOCK_CAP_WAKE leaves look_again 0, the core polls the
	 *          store, with backoff.
	 *          If an obstacle will not go by itself, dlk_fail() with EBUSY
	 *          names the obstacle, for the caller's message.
	 * FAILED   See err; the claim may or may not stand.  The core retries
	 *          after EUNREACHABLE, until the caller's deadline.  Every
	 *          other failure is final.
	 * LATER    With `no_wait`: the request is on the way, and ends by the
	 *          deadline.  The core calls again, with the same deadline:
	 *          without `no_wait`, to wait for the answer; or in a session
	 *          with an attendant, with `no_wait` after dlk_go_on(), or
	 *          sooner.  Or the core calls release() or release_all()
	 *          instead.  Until then the backend may put the sending off,
	 *          but not in a session with an attendant.
	 *
	 * With `is_try`, a backend may take longer than `deadline` for a
	 * bounded time if the store answers: to prepare the store for the
	 * request, or to wait for other clients' tries.  The backend adds the
	 * time to `overtime`, and the call ends as much later.
	 *
	 * With DLOCK_CAP_SHARED, readers do not starve a waiting writer: a
	 * later reader is BUSY until the writer has had a turn.  With
	 * DLOCK_CAP_COUNT, the limit belongs to the lock: a request with
	 * another limit while the semaphore is in use fails with EINVAL, and
	 * the message names the semaphore, the limit and the limit asked for;
	 * unless resize() has set the limit.
	 * With DLOCK_CAP_PERMITS, a request for several permits gets all
	 * permits at once or no permit.  Later requests do not overtake the
	 * first such request that waits, even without DLOCK_CAP_FAIR.  A
	 * request for more permits than there are, since resize(), fails with
	 * EINVAL, and keeps no other request from the permits.
	 * With DLOCK_CAP_UPGRADE, the claim of `beside` does not keep the
	 * request from the lock, and the request comes before all that wait:
	 * the store grants the request when no other claim holds the lock, and
	 * until then grants no other.  Both claims stand then, each by itself:
	 * either may end first, and the other excludes others as before.  If
	 * the claim of `beside` does not stand, the request is as any EXCLUSIVE
	 * request; if the claim ended meanwhile, the request may keep the place
	 * in front, but waits for all holders.
	 */
	enum dlk_verdict (*attempt)(struct dlk_ticket *t, dlk_time deadline,
				    struct dlk_error *err);

	/*
	 * Extend `n` granted claims, or prove that the session keeps them, in
	 * as few round trips as the store allows.  For each: RENEWED restarts
	 * the lease; STANDS: the claim stands but was not extended; GONE: the
	 * claim does not stand; UNKNOWN, which is preset: the store gave no
	 * proof either way.  Must check the owner: never extend, and never
	 * re-create, a claim that another owner may have taken.  Must be
	 * provided if claims expire or check_ms is set.  Called from one thread
	 * at a time.
	 *
	 * PENDING, if the session has several servers: the claim's server has
	 * not answered yet.  renew() then returns when another server has, or
	 * after 32 ms or so, so that no renewal waits for a server of others.
	 * If the tickets say `no_wait`, PENDING: there is no answer yet.  When
	 * there is, call dlk_go_on() with the id 0.
	 * The core calls again with the pending tickets, and perhaps with more,
	 * until no verdict is PENDING.  The deadline is that of the tickets
	 * that were not pending; a deadline of 0 ends the pending, too.  Each
	 * call has an err of its own, for the claims that are UNKNOWN then.
	 */
	void (*renew)(struct dlk_session *s, struct dlk_ticket *const t[],
		      enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err);

	/*
	 * Give up the claim, in any state, and forget the ticket: free the
	 * ticket's memory in this process, whatever the result.  If no request
	 * was ever sent, do no I/O.  0: the store holds no claim of the ticket.
	 * ELOST: the store held no claim before either, though it had granted
	 * the claim.  ELOST needs proof: not if an earlier request to release
	 * the claim may have been carried out.  After any other code the claim
	 * may still stand, and the core calls again until the claim's lease has
	 * run out.  Must check the owner.  Idempotent.  Must be provided.
	 * DLK_LATER: as attempt(), and the core calls release() again.
	 */
	int (*release)(struct dlk_ticket *t, dlk_time deadline,
		       struct dlk_error *err);

	/*
	 * Turn a granted EXCLUSIVE claim into a SHARED claim without a moment
	 * in between, set request.mode, and wake the waiters that may now share
	 * it.  After a failure the claim is still EXCLUSIVE; ELOST: the claim
	 * did not stand.  NULL: the core keeps the exclusive claim until the
	 * read side is released as well.
	 */
	int (*downgrade)(struct dlk_ticket *t, dlk_time deadline,
			 struct dlk_error *err);

	/*
	 * Report the holders, then the waiters, each with the label of the
	 * request.  A waiter's token is 0; a free lock has no participants.
	 * With DLOCK_CAP_FAIR all waiters are reported, in order; a store
	 * without a wait queue need not report waiters.  `each` copies, and may
	 * be called with any lock held.  Of a semaphore, `permits` 0 means 1,
	 * and `limit` 0 the request's.  Provided if and only if caps has
	 * DLOCK_CAP_INSPECT.
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

	/* Take the lock away from the holders, which learn of the break as a
	 * loss; 0 if the lock was free, too.  The next token is larger than
	 * every granted token.  NULL: the store cannot. */
	int (*break_)(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);

	/*
	 * Give up all `n` tickets of the session, as release() does for each,
	 * in as few round trips as the store allows.  dlock_close() calls it at
	 * most once, right before close(); no other call is under way, nor
	 * comes in between.  So a store that frees claims when close() ends the
	 * session only forgets the tickets here.  A ticket may be in any state,
	 * as for release().  Claims not confirmed by the store at `deadline`
	 * are left to their lease.  Free the tickets' memory in this process in
	 * any case.  NULL: the core calls release() for each in turn, and many
	 * holds may not fit into the time of dlock_close().
	 */
	void (*release_all)(struct dlk_session *s, struct dlk_ticket *const t[],
			    size_t n, dlk_time deadline);

	/*
	 * Read the descriptor that dlk_listen() named, and call dlk_wake(),
	 * dlk_lost() and so on.  Never blocks, and may find no data.  Called
	 * from one thread at a time: the waiter that polls the descriptor, or a
	 * thread of the core's while no waiter does.  The call may come at any
	 * time between dlk_listen() and close(), also right after dlk_listen()
	 * has named another descriptor or no descriptor.  NULL: the backend
	 * reads in threads of its own.
	 */
	void (*pump)(struct dlk_session *s);

	/*
	 * The client uses a granted EXCLUSIVE claim for several holds: it
	 * passes the claim from thread to thread, or keeps it for a while
	 * without a holder.  From now on until release(), call dlk_wanted()
	 * when another session asks for a claim that this claim excludes, also
	 * if the request is a try without a wait, and when another session
	 * breaks the lock.  Listen before you look.  Requests of the ticket's
	 * own session do not count.
	 *
	 * Set token_last as well: the store gives token + 1 to token_last to no
	 * other claim, whatever becomes of this claim.  token_last is at most
	 * DLK_TOKENS_AHEAD ahead of the store's clock, so that tokens stay near
	 * the clock.  After release() the next token need only be larger than
	 * token_used.  If the store cannot set tokens aside, token_last is
	 * `token`, and the claim is not passed on.  A second call for the same
	 * claim asks for more tokens: token_last never falls.
	 *
	 * 1: another session asks already; 0: no session asks; < 0: see err,
	 * and the claim is released as usual.
	 *
	 * Must be provided if caps has DLOCK_CAP_WANTED.  Without this
	 * capability the store need not tell at once, and need not tell at all
	 * of requests without a wait; dlk_wanted() may come from renew().  The
	 * core then calls watch_wanted() for holders that want to know, and
	 * neither passes nor keeps claims.
	 *
	 * With DLOCK_CAP_REVOKE_PERMITS also called for a granted claim of a
	 * semaphore: from now on until release(), call dlk_wanted() at each
	 * revoke() of the semaphore, and not for a waiter: every holder would
	 * give up for a single request.  Set no tokens aside, and return 0.
	 */
	int (*watch_wanted)(struct dlk_ticket *t, dlk_time deadline,
			    struct dlk_error *err);

	/*
	 * Have dlk_wanted() called for every watched claim of this lock, in
	 * every session: a client asks the holders to give the lock up.  OK if
	 * no claim is watched.  Called for a semaphore only with
	 * DLOCK_CAP_REVOKE_PERMITS.  Provided together with watch_wanted.
	 */
	int (*revoke)(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);

	/*
	 * As release() for a granted claim, called once, but return when the
	 * request is sent: DLK_SENT.  The answer comes later, by
	 * dlk_released().  Any other result is release()'s, and no answer
	 * follows.  A core that cannot wait for the answer any longer calls
	 * release(), also without an answer in between.
	 *
	 * The answer costs no extra round trip: read it when the next answer on
	 * the same connection comes, or when the core calls release().  NULL:
	 * with release=async in the URI the client cannot be opened, unless the
	 * store is without DLOCK_CAP_REMOTE.
	 */
	int (*release_begin)(struct dlk_ticket *t, dlk_time deadline,
			     struct dlk_error *err);

	/*
	 * Set the limit of a semaphore with holders or waiters to
	 * request->limit, and wake the waiters that may be granted now.  From
	 * then on, until the semaphore has no user, the set number counts at
	 * each grant, and a request with any other number is served.  Holders
	 * beyond the limit keep their permits.  EINVAL, with `err` as it was:
	 * the semaphore has no user.  Provided if and only if caps has
	 * DLOCK_CAP_RESIZE.
	 */
	int (*resize)(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);

	/*
	 * Not 0: renew() may come beside watch_wanted() for the same ticket.
	 * Else a renewal that falls due waits until watch_wanted() returns.
	 */
	int renews_beside_watch;

	/*
	 * Not 0: with `no_wait`, attempt() and release() return DLK_LATER, and
	 * renew() DLK_PENDING, instead of waiting for the answer.
	 */
	int answers_later;

	/* New members go here; `size` says whether a backend has them. */
};

/*
 * Add a backend, for the life of the process; `backend` is borrowed.
 * EINVAL: a mandatory member is missing, a capability unknown or without the
 * member or capability that belongs to it, a scheme ill-formed or taken, a
 * parameter ill-formed; dlock_errmsg() says which, and how to mend it.
 */
DLOCK_API int dlock_backend_register(const struct dlock_backend *backend);

/* ---- Backends in shared objects ------------------------------------------ */

/* Such a shared object exports a single symbol, `dlock_backend_v1`: the
 * versions and sizes it was compiled with, and the backend.  Define it with
 * DLOCK_MODULE(). */
struct dlock_module {
	size_t size;          /* sizeof(struct dlock_module) */
	uint32_t major, minor; /* of the dlock at compile time */
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
 * search path.  The code of the file runs with the rights of the program.  So
 * dlock refuses a file, or a directory on the path, that any user but root and
 * the caller may write.  Loading the same file again is harmless.
 * EINVAL: not a shared object, not a backend, compiled against another minor
 * version, or refused by dlock_backend_register(); EDENIED: others may write
 * the file.  dlock_errmsg() says which, and how to mend it.
 */
DLOCK_API int dlock_backend_load(const char *file);

/* ---- Services: from any thread, with any lock held ----------------------- */

/* The lock changed for this waiter: the core makes another attempt. */
DLOCK_API void dlk_wake(struct dlk_session *s, uint64_t id);

/* The request of a call that returned DLK_LATER has ended, or with the id 0,
 * renewals that are PENDING: in a session with an attendant, the core calls
 * again.  May be late or doubled, and may name an ended claim; must not be
 * missing. */
DLOCK_API void dlk_go_on(struct dlk_session *s, uint64_t id);

/* This claim no longer stands, or no claim of the session stands. */
DLOCK_API void dlk_lost(struct dlk_session *s, uint64_t id, const char *why);
DLOCK_API void dlk_lost_all(struct dlk_session *s, const char *why);

/* Another session asks for a claim that this claim excludes: see
 * watch_wanted().  May be late, spurious or doubled, and may name an ended
 * claim.  If a call is missing, the other session waits until the claim is
 * released for another reason. */
DLOCK_API void dlk_wanted(struct dlk_session *s, uint64_t id);

/*
 * The answer to the release of this claim begun with release_begin(): the code
 * that release() would have returned.  May come before release_begin() returns,
 * and may name an ended claim.
 */
DLOCK_API void dlk_released(struct dlk_session *s, uint64_t id, int rc);

/* The session has another server now, which may not know the session's claims:
 * the core renews every hold at once, and every waiter makes another
 * attempt. */
DLOCK_API void dlk_verify_all(struct dlk_session *s);

/*
 * From now on the core polls `fd`, and calls pump() when it is readable; < 0:
 * no descriptor.  The thread that waits for a lock polls `fd` itself, so that a
 * wake-up passes through no other thread.  Call dlk_listen() before you close
 * the descriptor named last.  For one thread at a time, not from pump().  0, or
 * ESYSTEM: then the core polls no descriptor.
 */
DLOCK_API int dlk_listen(struct dlk_session *s, int fd, struct dlk_error *err);

DLOCK_API dlk_time dlk_now(void);

/*
 * Tell the core that the store answered at `answered` a request sent at `sent`,
 * without any other wait: `sent` is when the store could take the request,
 * after a wait for a connection or a local lock.  From these times the core
 * learns how far away the store is, and gives requests as long beyond the
 * caller's deadline as an answer takes; without them, 40 ms, or the URI's
 * `ask`.  Tell of requests like an attempt's: a single answer in open() is
 * enough for a beginning.
 */
DLOCK_API void dlk_answered(struct dlk_session *s, dlk_time sent,
			    dlk_time answered);

/*
 * Return the present deadline of the call this thread is in, which began with
 * `deadline`.  dlock_cancel() brings forward the deadline of attempt(), and of
 * the release() after it, because the caller no longer wants the answer.  Call
 * dlk_deadline() every 20 ms or so while you wait for the store; otherwise the
 * cancelling thread must wait, too.
 */
DLOCK_API dlk_time dlk_deadline(dlk_time deadline);

/* Fill in err (may be NULL) and return code. */
DLOCK_API int dlk_fail(struct dlk_error *err, int code, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/*
 * level as in dlock_log_fn.  The text must hold no secret, and is cut to 511
 * bytes.  The core only queues the line, and calls the program's sink later,
 * from a thread outside the backend: the caller's, when the call of the backend
 * has returned, or for a store's own threads a thread of the core's.  Lines are
 * delivered in order.  While a sink does not return, the core keeps 256 lines,
 * and then tells the sink how many lines it dropped.
 */
DLOCK_API void dlk_log(struct dlk_session *s, int level, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/* Start a joinable thread with every signal blocked; `name` is cut to 15
 * bytes.  0 or an errno value. */
DLOCK_API int dlk_thread(pthread_t *out, const char *name,
			 void *(*run)(void *arg), void *arg);

/* A participant in a store's wait queue. */
struct dlk_queue_entry {
	enum dlk_mode mode;
	uint32_t limit;
	uint32_t permits; /* of SHARED with a limit; 0 is 1 */
};

/*
 * The grant rule, for stores with a wait queue.  `queue` has the participants
 * that asked before `me`, holders and waiters, in order.  EXCLUSIVE is granted
 * if the queue is empty; SHARED if there is no EXCLUSIVE and the permits of all
 * SHARED, `me` included, are `limit` at most.  No participant may ask for more
 * than `limit` alone.  Returns -1 for granted, else the index of the last
 * participant in the way.  Without a limit it is enough to watch this
 * participant.  With a limit, the end of any SHARED ahead may change the
 * answer.
 */
DLOCK_API ptrdiff_t dlk_grant(const struct dlk_queue_entry *queue, size_t ahead,
			      struct dlk_queue_entry me);

/* Make a condition for dlk_cond_wait().  Destroy it with
 * pthread_cond_destroy(). */
DLOCK_API void dlk_cond_init(pthread_cond_t *cond);

/* Wait on the condition until it is signalled, or until `until`, or a little
 * less: call it in a loop.  The deadline holds even if the machine is suspended
 * meanwhile.  `mu` is held. */
DLOCK_API void dlk_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mu,
			     dlk_time until);

/* Fill all of `out` with random bytes of the kernel's; 0 or ESYSTEM.  Changes
 * errno. */
DLOCK_API int dlk_random(void *out, size_t size, struct dlk_error *err);

/* How many bytes of `s` to keep, `most` at most, so that no UTF-8 character is
 * cut in two.  `s` may have any bytes. */
DLOCK_API size_t dlk_utf8_clip(const char *s, size_t most);

#ifdef __cplusplus
}
#endif
#endif
