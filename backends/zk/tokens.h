/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens, and the node <chroot>/<prefix>/tokens that puts them on a scale which
 * all clients share.  All of this is called with the session locked.
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

/* What the session knows of the node.  Written by tokens.c, with the session
 * locked. */
struct zk_tokens {
	int known;               /* `last.now` is the last anchor, and the
				  * server would have told us of another one,
				  * ... */
	uint64_t connects;       /* ... on this connection */
	struct zk_scale last;
	int32_t version;         /* of the node */
	uint64_t raised_on;      /* the connection that has made an anchor, or
				  * found one that was made meanwhile */
	dlk_time born;           /* since when the last anchor ages */
	dlk_time age;            /* at which another is made */
	int denied;              /* we may not write the node */
	uint64_t missing_on;     /* the connection on which there was no node */
};

/* Ask for the node.  The answer is noted when it comes; NULL: out of memory. */
struct zk_call *dlki_zk_tokens_ask(struct zk_session *s);

/* Know the last anchor: read the node unless we do, or make it. */
int dlki_zk_tokens_known(struct zk_session *s, dlk_time deadline,
			 struct dlk_error *err);
/* Know an anchor that is not too old: read the node, make it, write it.  Call
 * this before a ticket's node is made.  0 or an error. */
int dlki_zk_tokens_ready(struct zk_session *s, dlk_time deadline,
			 struct dlk_error *err);

/* The token of the ticket's node, whose czxid is known, to t->token; 0 if it
 * cannot be told from what is known.  The node was made at `ctime_ms`: if its
 * token is far behind, the anchor counts as old. */
void dlki_zk_tokens_tell(struct zk_session *s, struct zk_ticket *t,
			 int64_t ctime_ms);
/* The same, but ask.  0, with t->token 0 if nobody can tell; or an error. */
int dlki_zk_tokens_settle(struct zk_session *s, struct zk_ticket *t,
			  dlk_time deadline, struct dlk_error *err);

/* What t->above will be, by the last anchor. */
int64_t dlki_zk_tokens_above(const struct zk_session *s);

/* As they are known on this connection. */
struct zk_scale dlki_zk_tokens_scale(const struct zk_session *s);

/* Two requests that are under way, to be waited for. */
struct zk_raise {
	struct zk_call *calls[2];
	uint64_t connects; /* the session's, when they were made ... */
	dlk_time began;    /* ... and when that was */
};

/* Make an anchor, after the one that we know, and read the node again; they are
 * answered: 0 with what was read, if it was, or an error. */
void dlki_zk_tokens_raise(struct zk_session *s, struct zk_raise *r);
int dlki_zk_tokens_raised(struct zk_session *s, const struct zk_raise *r,
			  struct zk_scale *read, struct dlk_error *err);

/* The last of the tokens, from the one after the ticket's on, that the store
 * gives to no other node; 0: none are known.  `next` is the czxid of the node
 * behind the ticket's, by a listing that was asked for after the anchors; 0:
 * there was none. */
uint64_t dlki_zk_tokens_spare(const struct zk_scale *scale,
			      const struct zk_ticket *t, int64_t next);

/* The connection has gone. */
void dlki_zk_tokens_down(struct zk_session *s);

#endif
