/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens, and the node <chroot>/<prefix>/tokens that puts them on a scale
 * shared by all clients.  All functions here are called with the session
 * locked.
 */
#ifndef DLOCK_BACKENDS_ZK_TOKENS_H
#define DLOCK_BACKENDS_ZK_TOKENS_H

#include "backends/zk/anchor.h"
#include "backends/zk/zk.h"

struct zk_call;

/* The last two anchors, as they were read at some time; 0: not known. */
struct zk_scale {
	struct zk_anchor now, before;
};

/* The session's knowledge of the node.  Written by tokens.c, with the session
 * locked. */
struct zk_tokens {
	int known;               /* `last.now` is the last anchor, and the
				  * server would have told of another anchor,
				  * ... */
	uint64_t connects;       /* ... on this connection */
	struct zk_scale last;
	int32_t version;         /* of the node */
	uint64_t raised_on;      /* the connection that has made an anchor, or
				  * found a new anchor */
	dlk_time born;           /* since when the last anchor ages */
	dlk_time age;            /* at which another is made */
	int denied;              /* we may not write the node */
	uint64_t missing_on;     /* the connection on which there was no node */
};

/* Ask for the node.  The answer is noted when it comes; NULL: out of memory. */
struct zk_call *dlki_zk_tokens_ask(struct zk_session *s);

/* Learn the last anchor: read or make the node, unless the anchor is known. */
int dlki_zk_tokens_known(struct zk_session *s, dlk_time deadline,
			 struct dlk_error *err);
/* Have a fresh anchor: read, make or write the node.  Call this before a
 * ticket's node is made.  0 or an error. */
int dlki_zk_tokens_ready(struct zk_session *s, dlk_time deadline,
			 struct dlk_error *err);

/* Set t->token to the token of the ticket's node, by the node's czxid; 0 if the
 * known anchors do not tell.  If another anchor has come since the request, the
 * node's data follows.  The node was made at `ctime_ms`: if the token is far
 * behind, the anchor counts as old. */
void dlki_zk_tokens_tell(struct zk_session *s, struct zk_ticket *t,
			 int64_t ctime_ms);
/* The same, but ask.  0, with t->token 0 if the server cannot tell; or an
 * error. */
int dlki_zk_tokens_settle(struct zk_session *s, struct zk_ticket *t,
			  dlk_time deadline, struct dlk_error *err);

/* Return the future t->above, by the last anchor. */
int64_t dlki_zk_tokens_above(const struct zk_session *s);

/* As they are known on this connection. */
struct zk_scale dlki_zk_tokens_scale(const struct zk_session *s);

/* Two requests under way, to wait for. */
struct zk_raise {
	struct zk_call *calls[2];
	uint64_t connects; /* the session's, when they were made ... */
	dlk_time began;    /* ... and when that was */
};

/* Make an anchor, after the known anchor, and read the node again; they are
 * answered: 0 with the node's data, if read, or an error. */
void dlki_zk_tokens_raise(struct zk_session *s, struct zk_raise *r);
int dlki_zk_tokens_raised(struct zk_session *s, const struct zk_raise *r,
			  struct zk_scale *read, struct dlk_error *err);

/* Return the last of the tokens after the ticket's that the store gives to no
 * other node; 0: no token is known.  `next` is the czxid of the node behind the
 * ticket's, by a listing asked for after the anchors; 0: no such node. */
uint64_t dlki_zk_tokens_spare(const struct zk_scale *scale,
			      const struct zk_ticket *t, int64_t next);

/* The connection has gone. */
void dlki_zk_tokens_down(struct zk_session *s);

#endif
