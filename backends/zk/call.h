/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the server.  The client library's synchronous calls can hang, so
 * dlock uses only asynchronous calls, each under dlock's deadline.  All
 * functions here are called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_CALL_H
#define DLOCK_BACKENDS_ZK_CALL_H

#include <sys/queue.h>

#include "backends/zk/client.h"
#include "backends/zk/reply.h"
#include "backends/zk/zk.h"

struct zk_call;
struct zk_conn;
struct zk_reply_wait;

/* Called when the answer is there. */
typedef void zk_then(struct zk_session *s, struct zk_call *call);

/*
 * A request.  The results are there once `done` is set.  A reply without a
 * waiting thread is thrown away.
 */
struct zk_call {
	struct zk_conn *conn;
	LIST_ENTRY(zk_call) in_calls; /* the connection's */
	struct zk_reply_wait *wait;   /* of the waiting thread, or NULL */
	zk_then *then;          /* or NULL; not for the answer of a server left
				 * before, nor for a failure to send: the sender
				 * sees such a failure */
	int sending;
	int refs;
	int done;
	int rc;                 /* the client library's; ZOPERATIONTIMEOUT until
				 * done */
	int nomem;              /* for the answer */
	int write, sync;
	uint64_t ticket;        /* the released ticket, for `then` */
	struct zk_orphan *room; /* of the released ticket; or NULL */
	dlk_time sent;
	struct Stat stat;
	char **names;           /* children */
	size_t n;
	char *data;             /* with a NUL behind it; may be NULL */
	size_t data_len;
	zoo_op_t op;            /* of a transaction, the first */
	zoo_op_result_t result;
	zoo_op_result_t *results; /* of several; or NULL */
	char node[ZK_NODE_SIZE]; /* the node made */
	char path[ZK_PATH_SIZE];
};

/* Send a request; there must be a connection.  NULL: out of memory.  A request
 * that could not be sent is done already.  The caller drops each call. */
struct zk_call *dlki_zk_create(struct zk_session *s, const char *path,
			       const char *data, size_t len, int flags);
/* If the node has this version; -1: any. */
struct zk_call *dlki_zk_set(struct zk_session *s, const char *path,
			    const char *data, size_t len, int32_t version);
struct zk_call *dlki_zk_delete(struct zk_session *s, const char *path);
struct zk_call *dlki_zk_get(struct zk_session *s, const char *path);
/* With the directory's stat. */
struct zk_call *dlki_zk_children(struct zk_session *s, const char *path);
/* The same, and leave a watch for `on_event` with the session as context; NULL:
 * no watch. */
struct zk_call *dlki_zk_children_watched(struct zk_session *s, const char *path,
					 watcher_fn on_event, zk_then *then);
/* Answered when the leader has answered our server.  Writes no data. */
struct zk_call *dlki_zk_sync(struct zk_session *s, const char *path);
/* A write without a change: the answer proves that the session stands. */
struct zk_call *dlki_zk_proof(struct zk_session *s);
/* A transaction: all of the operations, or none.  The result is that of the
 * first to fail.  `path` is for messages. */
struct zk_call *dlki_zk_multi(struct zk_session *s, const char *path,
			      const zoo_op_t ops[], size_t n);
/* Get, and leave a watch if there is such a node, for `on_event` with the
 * session as context; NULL: no watch.  `then` is as in the struct. */
struct zk_call *dlki_zk_get_watched(struct zk_session *s, const char *path,
				    watcher_fn on_event, zk_then *then);
/* The same, and let `then` have the answer.  Returns 0, ENOMEM or
 * EUNREACHABLE. */
int dlki_zk_watch_path(struct zk_session *s, const char *path,
		       watcher_fn on_event, zk_then *then);
/* Leave a watch that reports when the node is made, or gone if it is there. */
struct zk_call *dlki_zk_exists_watched(struct zk_session *s, const char *path,
				       watcher_fn on_event, zk_then *then);
/* Remove the watches of a path, if there is a connection. */
void dlki_zk_unwatch_path(struct zk_session *s, const char *path);

/* Free the calls, or have their answers free them; NULLs are skipped. */
void dlki_zk_drop(struct zk_call *const calls[], size_t n);
/* The call will not be answered: fail it. */
void dlki_zk_abandon(struct zk_session *s, struct zk_call *call);

#endif
