/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection: a handle of the client library.  All but open and close are
 * called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_CONN_H
#define DLOCK_BACKENDS_ZK_CONN_H

#include <sys/queue.h>

#include "backends/zk/addresses.h"
#include "backends/zk/client.h"
#include "backends/zk/zk.h"

struct zk_call;

enum zk_state { ZK_DOWN, ZK_UP, ZK_EXPIRED, ZK_DENIED };

/* A ZooKeeper session, as the next handle needs it to go on. */
struct zk_id {
	clientid_t client;   /* client_id 0: no session yet */
	int64_t timeout_ms;  /* the least time negotiated */
	dlk_time down_at;    /* when disconnected */
	uint64_t generation; /* which session of ours this is */
};

/* `session`, `zh`, `address`, `moved`, `begun` and `ended` are constant; the
 * session's lock guards the rest. */
struct zk_conn {
	struct zk_session *session;
	zhandle_t *zh;
	char address[ZK_ADDRESS_SIZE]; /* the server's */
	enum zk_state state;
	struct zk_id id;
	int moved;             /* another handle had the session before */
	int lost;              /* was connected, and is no more */
	int failed;            /* could not be connected */
	int asked;             /* the handle was, to connect */
	int closing;           /* the session is not locked in callbacks */
	/* For drive.c: the handle has no connection, and will have none. */
	void (*ended)(struct zk_conn *c);
	dlk_time begun;        /* when the handle was made */
	dlk_time silent_since; /* the last answer, or the first request after
				* the last answer */
	LIST_HEAD(, zk_call) calls; /* not yet answered; call.c's */
};

/* Make a handle that begins or continues a session.  NULL if the library
 * cannot; `err` says why.  The session is not locked. */
struct zk_conn *dlki_zk_conn_open(struct zk_session *s, const struct zk_id *id,
				  struct dlk_error *err);
/* Close the connection, and fail the unanswered calls.  The session is not
 * locked. */
void dlki_zk_conn_close(struct zk_conn *c);

/* This is the session's connection from now on. */
void dlki_zk_conn_use(struct zk_conn *c);
/* Take the connection from the session; returns it, or NULL. */
struct zk_conn *dlki_zk_conn_leave(struct zk_session *s);
/* The connection is lost. */
void dlki_zk_conn_down(struct zk_conn *c);
/* All holds of this ZooKeeper session have ended. */
void dlki_zk_conn_over(struct zk_conn *c, enum zk_state state, const char *why);

#endif
