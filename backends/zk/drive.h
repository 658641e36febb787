/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driving the client library, which has no threads: it sends when called, and
 * reads when told that the socket is readable.
 *
 * A single thread at a time polls the socket.  A thread that waits for replies
 * polls, unless another thread already does; with all its replies, the thread
 * passes this role on to the next waiting thread.  While no thread waits for
 * replies, the socket is in an epoll set, polled by the core or by a waiter for
 * the core.  For the library's timed work, such as pings, dlock-loop calls the
 * library.
 *
 * Every call of the library for a handle in use is made with the session
 * locked, and so are all callbacks from it.
 */
#ifndef DLOCK_BACKENDS_ZK_DRIVE_H
#define DLOCK_BACKENDS_ZK_DRIVE_H

#include <stdint.h>

#include "backends/zk/zk.h"

struct zk_conn;
struct zk_reply_wait;

/* Written by drive.c, with the session locked; the first two are constant
 * while the session is open. */
struct zk_drive {
	int set_fd;      /* epoll: sock */
	int wake_fd;     /* eventfd: rouses the thread polling sock */
	int sock;        /* a duplicate of the handle's; -1: not open */
	const struct zk_conn *conn; /* the handle of `sock` */
	uint32_t wants;  /* the handle's events, EPOLLIN and EPOLLOUT */
	uint32_t listed; /* the set's events */
	dlk_time due;    /* when the library is to be asked again */
	int taking_in;   /* the library calls us */
	int reading;     /* a thread polls the socket */
	int roused;      /* wake_fd was written to since the poll began */
	struct zk_reply_wait *waiting; /* threads waiting, without reading */
	unsigned int idle; /* ... for a connection, asleep on `changed` */
};

void dlki_zk_drive_init(struct zk_session *s);
/* Make the descriptors: 0, or ESYSTEM. */
int dlki_zk_drive_open(struct zk_session *s, struct dlk_error *err);
void dlki_zk_drive_free(struct zk_session *s);

/* The core's pump(). */
void dlki_zk_pump(struct dlk_session *base);

/* All of these with the session locked. */

/* A request was made, or the session has another connection, or no
 * connection. */
void dlki_zk_drive_refresh(struct zk_session *s);
/* Have the library do the due work; returns when more will be due. */
dlk_time dlki_zk_drive_due(struct zk_session *s);
/* Read the replies that have come. */
void dlki_zk_drive_now(struct zk_session *s);
/* Read, or let another thread read, until a reply came, or `until`.  The
 * session is unlocked meanwhile.  `wait` is the caller's, or NULL: no reply to
 * wait for.  To be followed by dlki_zk_drive_leave() at the end of the wait. */
void dlki_zk_drive_wait(struct zk_session *s, struct zk_reply_wait *wait,
			dlk_time until);
void dlki_zk_drive_leave(struct zk_session *s);
/* All replies of `wait` are there. */
void dlki_zk_drive_done(struct zk_session *s, struct zk_reply_wait *wait);
/* Have the waiting threads look at their deadlines whose calls were
 * cancelled. */
void dlki_zk_drive_rouse(struct zk_session *s);

#endif
