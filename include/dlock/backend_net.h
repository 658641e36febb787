/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock/backend_net.h - network services for backends.
 *
 * For a backend that speaks the store's protocol itself: sockets that keep
 * deadlines.
 *
 * RULES
 *  1. A deadline is an absolute dlk_time, CLOCK_BOOTTIME in nanoseconds, and
 *     every call returns by the deadline, whatever the peer or signals do.
 *     After the deadline a call does no work.  In attempt() and release() the
 *     calls also keep dlk_deadline(), which a cancelled wait brings forward.
 *  2. A function that takes `err`, which must not be NULL, fills it in and
 *     returns a DLOCK_E code or NULL for failure; else 0 or the new object.
 *  3. EUNREACHABLE means that the next try may succeed: the peer refused, reset
 *     or closed the connection, or was late.  ENOMEM, EEXHAUSTED and ESYSTEM:
 *     this process or this host lacks memory or another resource.
 *  4. No call raises SIGPIPE.  Descriptors are close-on-exec.
 *  5. A forked child must not touch sockets and conditions that the parent
 *     made.  The child may make its own.
 *
 * Like backend.h, this header may change in any minor release.
 */
#ifndef DLOCK_BACKEND_NET_H
#define DLOCK_BACKEND_NET_H

#include <dlock/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sockets ------------------------------------------------------------- */

/*
 * A connection by TCP under a deadline.  The time-outs of client libraries
 * begin again at each poll, so a peer that sends a byte a second holds the
 * caller for ever; these calls end by their deadline.
 *
 * A single thread uses a socket at a time.  After a failure the only thing to
 * do with it is dlk_net_close().
 *
 * `fd` does not change while the socket is connected; other threads may poll
 * it.
 */
struct dlk_net {
	int fd;         /* -1: closed */
	int refused_by; /* out: errno of the connect() that failed; 0 */
	char peer[168]; /* out: for messages: "redis.example:6379" or
			 * "[::1]:6379" */
};

#define DLK_NET_INIT { -1, 0, "" }

/*
 * Connect to a host by TCP, with TCP_NODELAY and keep-alive.  `host` is a name
 * or an address, IPv6 without brackets.  The addresses of a name are tried in
 * turn, each for a share of the time left.  A separate thread resolves the
 * name, and is left behind if it takes longer than the deadline.
 */
DLOCK_API int dlk_net_tcp(struct dlk_net *n, const char *host, uint16_t port,
			  dlk_time deadline, struct dlk_error *err);

/* Send all of `data`: one system call if the kernel's buffers have room. */
DLOCK_API int dlk_net_send(struct dlk_net *n, const void *data, size_t len,
			   dlk_time deadline, struct dlk_error *err);

/* Wait for at least one byte; *got says how many came, `size` at most.  `size`
 * is at least 1.  The end of the stream is EUNREACHABLE. */
DLOCK_API int dlk_net_recv(struct dlk_net *n, void *data, size_t size,
			   size_t *got, dlk_time deadline,
			   struct dlk_error *err);

/* Return 1 if the connection is open and has no data to read, as it must be
 * between two requests; else 0.  One system call, which does not block. */
DLOCK_API int dlk_net_quiet(const struct dlk_net *n);

/* Idempotent. */
DLOCK_API void dlk_net_close(struct dlk_net *n);

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
 * signal a condition unknown to it.
 */
DLOCK_API dlk_time dlk_wait_slice(dlk_time deadline);

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
