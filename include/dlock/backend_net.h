/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock/backend_net.h - network services for backends.
 *
 * A backend that speaks its store's protocol itself needs sockets that keep
 * deadlines, a pool of connections, and the certainty that all of them lead to
 * one server.
 *
 * RULES
 *  1. A deadline is an absolute dlk_time, CLOCK_BOOTTIME in nanoseconds, and
 *     every call returns by it, whatever the peer or signals do.  After the
 *     deadline a call does nothing.  In attempt() and release() the calls also
 *     keep dlk_deadline(), which a cancelled wait brings forward.
 *  2. A function that takes `err`, which must not be NULL, fills it in and
 *     returns a DLOCK_E code or NULL for failure; else 0 or what it made.
 *  3. EUNREACHABLE means that the next try may succeed: the peer refused, reset
 *     or closed the connection, or was late.  EDENIED: the caller may not use
 *     this unix socket.  ENOMEM, EEXHAUSTED and ESYSTEM: this process or this
 *     host is short of something.
 *  4. No call raises SIGPIPE.  Descriptors are close-on-exec.
 *  5. A forked child must not touch what its parent has made of these: sockets,
 *     pools, servers, conditions.  It may make its own.
 *
 * Like backend.h, this header may change in any minor release.
 */
#ifndef DLOCK_BACKEND_NET_H
#define DLOCK_BACKEND_NET_H

#include <dlock/backend.h>
#include <sys/socket.h>

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> dlk_flag;
extern "C" {
#else
#include <stdatomic.h>
typedef atomic_int dlk_flag; /* 0, or set, by any thread */
#endif

/* ---- Sockets ------------------------------------------------------------- */

/*
 * A stream socket under a deadline.  The time-outs of client libraries begin
 * again at each poll, so that a peer that sends one byte a second holds the
 * caller for ever; these calls end by their deadline.
 *
 * One thread uses a socket at a time, except for dlk_net_hang_up().  After a
 * failure the only thing to do with it is dlk_net_close().
 *
 * `fd` does not change while the socket is connected; other threads may poll
 * it.  Set `stop` before connecting, or leave it NULL.
 */
struct dlk_net {
	int fd;               /* -1: closed */
	const dlk_flag *stop; /* borrowed.  Once it is set, every wait here ends
			       * within 20 ms, as if its deadline had come */
	int refused_by;       /* out: errno of the connect() that failed; 0 */
	char peer[168];       /* out: for messages: "redis.example:6379",
			       * "[::1]:6379" or the path */
};

#define DLK_NET_INIT { -1, NULL, 0, "" }

/*
 * Connect to a host by TCP, with TCP_NODELAY and keep-alive.  `host` is a name
 * or an address, IPv6 without brackets.  The addresses of a name are tried in
 * turn, each for its share of the time that is left.  A thread of its own
 * resolves the name, and is left behind if that takes longer than the deadline.
 */
DLOCK_API int dlk_net_tcp(struct dlk_net *n, const char *host, uint16_t port,
			  dlk_time deadline, struct dlk_error *err);

/* Connect to a unix socket.  EINVAL: the path is empty or does not fit. */
DLOCK_API int dlk_net_unix(struct dlk_net *n, const char *path,
			   dlk_time deadline, struct dlk_error *err);

/* Connect to this address of TCP or of a unix socket.  The caller has set
 * n->peer. */
DLOCK_API int dlk_net_connect(struct dlk_net *n, const struct sockaddr *addr,
			      socklen_t len, dlk_time deadline,
			      struct dlk_error *err);

/* Send all of it: one system call if the kernel's buffers have room. */
DLOCK_API int dlk_net_send(struct dlk_net *n, const void *data, size_t len,
			   dlk_time deadline, struct dlk_error *err);

/* Wait for at least one byte; *got says how many came, `size` at most.  `size`
 * is at least 1.  The end of the stream is EUNREACHABLE. */
DLOCK_API int dlk_net_recv(struct dlk_net *n, void *data, size_t size,
			   size_t *got, dlk_time deadline,
			   struct dlk_error *err);

/* 1 if the connection is open and nothing is there to read, as it must be
 * between two requests; else 0.  One system call, which does not block. */
DLOCK_API int dlk_net_quiet(const struct dlk_net *n);

/*
 * Make the thread that sends or receives here, now or later, fail at once; only
 * what came before can still be received.  May be called from any thread.  The
 * descriptor stays open, so that no other file can get its number: the owner of
 * the socket calls dlk_net_close(), and must make sure, by a lock or by joining
 * the others, that nobody hangs up after that.
 */
DLOCK_API void dlk_net_hang_up(const struct dlk_net *n);

/* Idempotent. */
DLOCK_API void dlk_net_close(struct dlk_net *n);

/* An address as text: "127.0.0.1:6379", "[::1]:6379". */
DLOCK_API void dlk_net_text(const struct sockaddr *addr, socklen_t len,
			    char out[80]);

/* ---- A pool of connections ----------------------------------------------- */

/*
 * One thread uses a connection at a time.  The connection used last is used
 * next, and one that a request has spoilt is never used again.
 *
 * At most `max` are open at once, including those being opened or closed.  A
 * thread that finds all of them in use waits for one until its deadline.  A
 * thread that comes later may overtake it once, but not twice.  A thread that
 * is alone never waits, and never meets a contended lock.
 *
 * An urgent request waits for no other: if all connections are in use, the pool
 * opens one more than `max` for it.
 *
 * All calls but dlk_pool_new() and dlk_pool_free() may come from several
 * threads at once.
 */
struct dlk_pool;

/* The first member of a connection.  Only the pool touches it, but open() sets
 * `round_trip`, if dlk_pool_spare() is used. */
struct dlk_pooled {
	struct dlk_pooled *next;
	dlk_time idle_since;
	dlk_time taken;
	uint64_t generation;
	dlk_time round_trip;   /* how long the answer to the greeting took; 0
				* after the first request */
	dlk_time spared_until; /* 0: never spared */
};

/* The pool calls these without any lock of its own, and for several connections
 * at once. */
struct dlk_pool_type {
	/* Make a connection and connect it, by `deadline`.  NULL: see err. */
	struct dlk_pooled *(*open)(void *arg, dlk_time deadline,
				   struct dlk_error *err);

	/* Disconnect and free. */
	void (*close)(struct dlk_pooled *c);

	/* Is a connection that was idle still good?  Must not block.  NULL: it
	 * is.  The pool does not ask about one that was used within the last
	 * second, unless another was given back spoilt since; the request that
	 * uses such a connection may find it dead. */
	int (*usable)(struct dlk_pooled *c);
};

/* `max` >= 1.  An idle connection beyond `keep` is closed when it is given
 * back.  `type` is borrowed; `arg` is for open().  NULL: no memory. */
DLOCK_API struct dlk_pool *dlk_pool_new(const struct dlk_pool_type *type,
					void *arg, size_t max, size_t keep);

/* Close all connections; none may be in use.  NULL is a no-op. */
DLOCK_API void dlk_pool_free(struct dlk_pool *p);

/* *fresh after a failure: all connections were in use until the deadline. */
#define DLK_POOL_CROWDED (-1)

/*
 * Take a connection, idle or new.  *fresh (`fresh` may be NULL) says whether it
 * is new: a request that failed on an idle one may be sent again on a new one,
 * provided that the store cannot have seen it.
 *
 * NULL: err says what open() said; or EUNREACHABLE if the deadline had passed
 * when the call began; or EEXHAUSTED, and *fresh is DLK_POOL_CROWDED.  Set the
 * ticket's `crowded` then.  The wait for a connection leaves time for a usual
 * request before the deadline.
 */
DLOCK_API struct dlk_pooled *dlk_pool_take(struct dlk_pool *p,
					   dlk_time deadline, int *fresh,
					   struct dlk_error *err);

/* The same for an urgent request.  One thread at a time. */
DLOCK_API struct dlk_pooled *dlk_pool_take_urgent(struct dlk_pool *p,
						  dlk_time deadline, int *fresh,
						  struct dlk_error *err);

/*
 * Spare the connection a request that would only spoil the connection: no
 * request was answered there yet, and the greeting took longer than is left
 * until `deadline`.  Then the connection goes back to the pool, for a request
 * with more time, and err says EUNREACHABLE and names `peer`.  Otherwise a
 * server at the end of a slow network would never be asked anything.  1:
 * spared; 0: ask the server.
 *
 * The connection is spared for as long as the greeting took, which outlasts the
 * call with too little time.  Then the next request finds out whether the
 * network is as slow as before.
 */
DLOCK_API int dlk_pool_spare(struct dlk_pool *p, struct dlk_pooled *c,
			     const char *peer, dlk_time deadline,
			     struct dlk_error *err);

/* Give a connection back.  `good`: others may use it; else it is closed. */
DLOCK_API void dlk_pool_give(struct dlk_pool *p, struct dlk_pooled *c,
			     int good);

/* Give back a connection whose peer closed it or fell silent.  The idle ones
 * are closed with it: a network that dropped this one has most likely dropped
 * them too, without a sign.  Connections in use will see for themselves. */
DLOCK_API void dlk_pool_dead(struct dlk_pool *p, struct dlk_pooled *c);

/* The server behind the pool is another one now: close the idle connections,
 * and each other one when it is given back. */
DLOCK_API void dlk_pool_renew(struct dlk_pool *p);

/* ---- The session's server ------------------------------------------------ */

/*
 * A lock on one server is no lock on another, so all connections of a session
 * must lead to the same server.  An address does not show that.  A name may
 * have several addresses, of one server or of several, and the server at an
 * address may be another one tomorrow.  Its identity does: a text that no other
 * server has, nor this one after a restart.  A server that tells no identity is
 * known by its address.
 *
 * The session belongs to the server that answered first.  It looks for it where
 * it was found last, then at the addresses that the name has now.  If only
 * another server answers, that is a fail-over, and the session belongs to that
 * one from then on.
 *
 * All addresses of a name must be one server; if two differ, the connection is
 * refused.  While an address does not answer or refuses connections, no server
 * is chosen, as it may be another one that other clients reach, or reach later.
 * A name like localhost is the exception, which is ::1 and 127.0.0.1: the one
 * that refuses is nobody's.  An address to which this host has no route is left
 * out, with a warning.
 *
 * All calls but dlk_server_new() and dlk_server_free() may come from several
 * threads at once.
 */
struct dlk_server;

#define DLK_IDENTITY_SIZE 128 /* with its NUL */

/* Called without any lock of the server's, and for several connections at
 * once.  `arg` is dlk_server_new()'s. */
struct dlk_server_type {
	/* The command by which a server tells its identity, for messages:
	 * "INFO". */
	const char *told_by;

	/*
	 * Make a connection of a socket: log in, and write down the server's
	 * identity, or leave it empty.  The socket belongs to the callee from
	 * the call on; *net is to be copied.  NULL: see err, and the socket is
	 * closed; EUNREACHABLE if the server may answer another time.
	 */
	void *(*greet)(void *arg, const struct dlk_net *net,
		       char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
		       struct dlk_error *err);

	/* Disconnect and free a connection that greet() made. */
	void (*close)(void *connection);

	/*
	 * There was a fail-over.  Connections made before lead to a server that
	 * is no longer the session's, and an answer over one of them counts for
	 * nothing: see dlk_server_epoch().  Claims may be gone: call
	 * dlk_verify_all().  Called once for each fail-over, before
	 * dlk_server_connect() returns the connection that found it.
	 */
	void (*moved)(void *arg, const char *text);

	/* Something to log at level 1. */
	void (*warn)(void *arg, const char *text);
};

/* The server at the unix socket `path`, or, if that is NULL, at `host` and
 * `port`.  The two texts are copied; the rest is borrowed.  NULL: no memory. */
DLOCK_API struct dlk_server *dlk_server_new(const struct dlk_server_type *type,
					    void *arg, const char *path,
					    const char *host, uint16_t port);

/* NULL is a no-op. */
DLOCK_API void dlk_server_free(struct dlk_server *s);

/*
 * Connect to the session's server; the first call finds out which that is.
 * Returns what greet() returned, and in *epoch the epoch of the connection.
 * `stop` may be NULL; see struct dlk_net.  NULL: see err.  EINVAL: the name
 * leads to several servers, and the session has none yet.
 */
DLOCK_API void *dlk_server_connect(struct dlk_server *s, const dlk_flag *stop,
				   uint64_t *epoch, dlk_time deadline,
				   struct dlk_error *err);

/* How many fail-overs there were.  An answer that came over a connection of
 * another epoch is not the session's server's. */
DLOCK_API uint64_t dlk_server_epoch(const struct dlk_server *s);

/* The server of that epoch answers, but is of no more use, as a primary that
 * has become a replica: the next connection goes where the name leads now. */
DLOCK_API void dlk_server_leave(struct dlk_server *s, uint64_t epoch);

/* ---- Waiting, random bytes, text ----------------------------------------- */

/* Make a condition for dlk_cond_wait().  Destroy it with
 * pthread_cond_destroy(). */
DLOCK_API void dlk_cond_init(pthread_cond_t *cond);

/* Wait on the condition until it is signalled, or until `until`, or a little
 * less: call it in a loop.  The deadline holds even if the machine is suspended
 * meanwhile.  `mu` is held. */
DLOCK_API void dlk_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mu,
			     dlk_time until);

/*
 * Until when to sleep, in a call of the backend, before looking at
 * dlk_deadline() again: at most until `deadline`.  A cancelled caller cannot
 * signal a condition that it does not know.  `crowd` says how many threads
 * wait like this: the more, the longer they sleep.
 */
DLOCK_API dlk_time dlk_wait_slice(dlk_time deadline, size_t crowd);

/* Fill all of `out` with random bytes of the kernel's; 0 or ESYSTEM.  Changes
 * errno. */
DLOCK_API int dlk_random(void *out, size_t size, struct dlk_error *err);

/* How many bytes of `s` to keep, `most` at most, so that no UTF-8 character is
 * cut in two. */
DLOCK_API size_t dlk_utf8_clip(const char *s, size_t most);

#ifdef __cplusplus
}
#endif
#endif
