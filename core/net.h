/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream sockets under an absolute deadline, for backends that speak their
 * store's protocol themselves.
 *
 * Time-outs of client libraries count from each poll, so that a peer that sends
 * one byte a second holds a caller for ever; here every call returns by its
 * deadline, whatever the peer or signals do, and does nothing once it has
 * passed.  No call raises SIGPIPE; descriptors are close-on-exec.
 *
 * Failures: EUNREACHABLE for whatever may be different the next time (refused,
 * reset, closed, late), naming the peer as `who`; EDENIED for a unix socket
 * that we may not use; ENOMEM, EEXHAUSTED and ESYSTEM for what is ours.  After
 * a failure the socket is only good for dlki_net_close().
 *
 * A socket is used by one thread at a time, but for dlki_net_hang_up().
 */
#ifndef DLOCK_CORE_NET_H
#define DLOCK_CORE_NET_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <stddef.h>

struct dlki_net {
	int fd; /* -1: closed.  Constant while connected; others may poll it */
	const atomic_int *stop; /* NULL, or: once it is set, waiting here is
				 * over soon, as if the deadline had come */
	char who[112]; /* "redis.example:6379", "[::1]:6379" or the path */
};

#define DLKI_NET_INIT { .fd = -1 }

/*
 * Connect to a host by TCP, with TCP_NODELAY and keep-alive.  All its addresses
 * are tried in turn, none of them longer than its fair part of what is left.  A
 * name is resolved by a thread of its own, which is left behind when it takes
 * longer than the deadline; an address needs none.
 */
int dlki_net_tcp(struct dlki_net *n, const char *host, uint16_t port,
		 dlk_time deadline, struct dlk_error *err);

/* Connect to a unix socket.  A path that does not fit is EINVAL. */
int dlki_net_unix(struct dlki_net *n, const char *path, dlk_time deadline,
		  struct dlk_error *err);

/* Send all of it.  One system call if the peer's buffers have room. */
int dlki_net_send(struct dlki_net *n, const void *data, size_t len,
		  dlk_time deadline, struct dlk_error *err);

/* Wait for some bytes, 1 to `size`, and say in *got how many; size >= 1.  The
 * peer's end of the connection is EUNREACHABLE.  One system call if they come
 * within some milliseconds. */
int dlki_net_recv(struct dlki_net *n, void *data, size_t size, size_t *got,
		  dlk_time deadline, struct dlk_error *err);

/* Is the connection as a quiet one should be: nothing to read, not closed?
 * Costs one system call. */
int dlki_net_quiet(const struct dlki_net *n);

/*
 * From any thread: whoever sends or receives, now or later, fails at once; only
 * what had come before may still be received.  The descriptor stays ours, so
 * that no other file can take its number: dlki_net_close() is for the thread
 * that owns the socket.  That one must keep others from hanging up once it
 * closes, by a lock or by having joined them.
 */
void dlki_net_hang_up(const struct dlki_net *n);

/* Idempotent. */
void dlki_net_close(struct dlki_net *n);

#endif
