/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to the session's server, and the pool that keeps them.
 */
#ifndef DLOCK_REDIS_CONN_H
#define DLOCK_REDIS_CONN_H

#include <dlock/backend_net.h>

#include "backends/redis/command.h"
#include "backends/redis/reply.h"

struct redis_session;
struct redis_ticket;

/*
 * Answers that the server owes a connection: those to releases that were sent
 * and not waited for.  They come ahead of the answer to the next command there.
 */
enum { RD_OWED_MAX = 8 };

struct redis_owed {
	unsigned int n;
	struct {
		uint64_t id; /* of the ticket */
		int granted; /* the server had said so */
	} v[RD_OWED_MAX]; /* in the order of sending */
};

struct redis_conn {
	struct dlk_pooled pooled;
	struct dlk_net net;
	struct redis_session *session;
	struct redis_reader reader;
	struct redis_owed owed;
	uint64_t epoch; /* see dlock/backend_net.h */
};

/* ---- Open and close ------------------------------------------------------ */

/* Connected to the session's server, with user, database and name as the URI
 * says.  NULL: see err.  `stop` as in dlock/backend_net.h. */
struct redis_conn *dlki_redis_conn_open(const struct redis_session *s,
					const dlk_flag *stop,
					dlk_time deadline,
					struct dlk_error *err);
void dlki_redis_conn_close(struct redis_conn *c);

/* The `greet` of struct dlk_server_type: log in, and learn the identity.
 * login.c. */
struct redis_conn *dlki_redis_conn_greet(struct redis_session *s,
					 const struct dlk_net *net,
					 char identity[DLK_IDENTITY_SIZE],
					 dlk_time deadline,
					 struct dlk_error *err);

/* ---- The pool ------------------------------------------------------------ */

/* Its `arg` is the session. */
extern const struct dlk_pool_type dlki_redis_pool_type;

/* As dlk_pool_take() and dlk_pool_take_urgent(); NULL as well where
 * dlk_pool_spare() spares the connection. */
struct redis_conn *dlki_redis_conn_take(struct redis_session *s,
					dlk_time deadline, int *fresh,
					struct dlk_error *err);
struct redis_conn *dlki_redis_conn_take_urgent(struct redis_session *s,
					       dlk_time deadline, int *fresh,
					       struct dlk_error *err);

/* Give it back to the pool; one that is not `good` is closed. */
void dlki_redis_conn_put(struct redis_session *s, struct redis_conn *c,
			 int good);

/* ---- Talk ---------------------------------------------------------------- */

int dlki_redis_conn_send(struct redis_conn *c, const struct redis_commands *out,
			 dlk_time deadline, struct dlk_error *err);

/* One command. */
int dlki_redis_conn_send_argv(struct redis_conn *c, size_t argc,
			      const char *const argv[], dlk_time deadline,
			      struct dlk_error *err);

/* The next reply to the commands that were sent; an error of the server's is a
 * reply, too.  Valid until the next one.  First what the server owes is taken
 * in. */
int dlki_redis_conn_recv(struct redis_conn *c, const struct redis_reply **out,
			 dlk_time deadline, struct dlk_error *err);

/* ---- Answers that it owes ------------------------------------------------ */

/* A release was sent. */
void dlki_redis_conn_owes(struct redis_conn *c, const struct redis_ticket *t,
			 int granted);

struct redis_owed_answer {
	uint64_t id; /* of a ticket */
	int came, rc; /* out */
};

/* Take in all that is owed, and tell the core.  0, or why the connection is of
 * no more use.  `of` is NULL, or the answer that the caller looks for. */
int dlki_redis_conn_settle(struct redis_conn *c, struct redis_owed_answer *of,
			 dlk_time deadline, struct dlk_error *err);

/* ---- What replies mean --------------------------------------------------- */

/* Does this connection still lead to the session's server?  If not, the answers
 * of the connection are void: EUNREACHABLE. */
int dlki_redis_conn_current(const struct redis_session *s,
			    const struct redis_conn *c, struct dlk_error *err);

/* What an error reply means, as dlki_redis_fault(); and a server that became a
 * replica is left. */
int dlki_redis_conn_fault(const struct redis_session *s,
			  const struct redis_conn *c,
			  const struct redis_reply *reply, int *keep,
			  struct dlk_error *err);

/* The server's answer makes no sense: EPROTO.  The second one also closes the
 * connection, which is the pool's. */
int dlki_redis_conn_nonsense(const struct redis_conn *c, struct dlk_error *err);
int dlki_redis_conn_put_nonsense(struct redis_session *s, struct redis_conn *c,
				 struct dlk_error *err);

#endif
