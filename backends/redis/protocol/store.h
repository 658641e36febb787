/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis store as a protocol of the engine: bytes in, bytes out.
 *
 * The scripts are the backend's, under backends/redis/scripts/.  The main link
 * brings the answers; the ear listens to the notification channel from the
 * first BUSY on.  An op's `id` is the attempt number, below 2^53.
 */
#ifndef DLOCK_REDIS_PROTOCOL_STORE_H
#define DLOCK_REDIS_PROTOCOL_STORE_H

#include "backends/redis/protocol/args.h"
#include "backends/redis/protocol/reply.h"
#include "backends/redis/protocol/texts.h"
#include "core/loop/protocol.h"

extern const struct dlki_protocol dlki_redis_protocol;

/* The answers that a greeting awaits. */
enum redis_greeting {
	RD_GREET_LOGIN,     /* AUTH, SELECT: must not fail */
	RD_GREET_NAME,      /* CLIENT SETNAME: may not be permitted */
	RD_GREET_INFO,      /* the identity: recent enough? */
	RD_GREET_SUBSCRIBE, /* ear */
	RD_GREET_PING       /* ear, when it has been quiet */
};

/* A link, and the state of the connection. */
struct redis_line {
	struct dlki_link *link;
	struct redis_reader reader; /* without hiredis: none */
	enum redis_greeting greeting[6];
	size_t greetings, greeted;
	dlk_time heard;
};

struct redis_listing;

struct redis_store {
	struct dlki_store base;
	struct redis_line main, ear;
	struct dlki_agreed agreed;
	dlk_time now; /* of the protocol's call under way */
	char order; /* 'f'air or 'a'ny */
	int plain;  /* key=plain */
	uint32_t db;
	const char *prefix; /* the URI's */
	char ttl_text[24], clock_text[80];
	struct redis_arg ttl, clock; /* these; prefix:clock */
	char channel[124];
	int knows[RD_SCRIPTS]; /* the server has the script, as far as known */
	dlk_time warned;       /* of the server's clock; 0: not yet */
	int is_judged;         /* by INFO, once it is the client's */
	int told;              /* the log says that the ear is refused */

	/* LIST ops with a request in flight, in the same order. */
	STAILQ_HEAD(, redis_listing) listings;
};

/* ---- Calls: call.c ------------------------------------------------------- */

/* A call of a script for an op. */
struct redis_script_call {
	enum redis_script script;
	const struct redis_arg *args;
	size_t n_args;
};

/* Send a call for an op; without memory the op fails. */
void dlki_redis_store_call(struct redis_store *s, struct dlki_op *op,
			   const struct redis_script_call *call);

/* Send a PING, for the sake of an answer. */
void dlki_redis_store_probe(struct dlki_link *l);

/* May the op ask?  With key=plain 0: the op has failed, because the plain key
 * could be a key of dlock. */
int dlki_redis_store_may_ask(struct redis_store *s, struct dlki_op *op);

/* ---- The verbs: a file for each ------------------------------------------ */

#define RD_IS_NOT_UNDERSTOOD "%s sent an answer that dlock does not understand"

/* An answer to an op, or a part of the answer. */
struct redis_answer {
	struct dlki_op *op; /* NULL: the op is over */
	const struct redis_reply *reply;
	dlk_time since;
	struct dlk_error *err; /* of RD_CUT */
};

enum redis_taken {
	RD_TAKEN,         /* the request is answered */
	RD_TAKEN_IN_PART, /* more replies follow */
	RD_SENSELESS,     /* op and connection end, unanswered */
	RD_CUT            /* the connection ends */
};

typedef void redis_submit_fn(struct redis_store *s, struct dlki_op *op);

/* Not called for an error of the server, except for LIST. */
typedef enum redis_taken redis_take_fn(struct redis_store *s,
				       const struct redis_answer *a);

redis_submit_fn dlki_redis_store_attempt, dlki_redis_store_renew,
	dlki_redis_store_release, dlki_redis_store_downgrade,
	dlki_redis_store_watch, dlki_redis_store_revoke, dlki_redis_store_break,
	dlki_redis_store_inspect, dlki_redis_store_resize,
	dlki_redis_store_list;

redis_take_fn dlki_redis_store_attempted, dlki_redis_store_renewed,
	dlki_redis_store_watched, dlki_redis_store_broken,
	dlki_redis_store_inspected, dlki_redis_store_listed;

/* Fail the op: the server refuses the request (RD_TAKEN or RD_CUT); or there is
 * no memory. */
redis_take_fn dlki_redis_store_fault;
void dlki_redis_store_no_memory(struct dlki_op *op);

/* Forget the LIST ops in flight. */
void dlki_redis_store_unlist(struct redis_store *s);

/* ---- Connections: greet.c, input.c, ear.c -------------------------------- */

void dlki_redis_store_greet(struct redis_store *s, struct redis_line *line);

/* Ask whether the server is there, on a link after the greeting. */
void dlki_redis_store_ping(struct redis_line *line);

/* Take an answer of the greeting: 0, or the reason to end the connection. */
int dlki_redis_store_greeted(struct redis_store *s, struct redis_line *line,
			     const struct redis_reply *reply,
			     struct dlk_error *err);

/* Refuse bytes that are no reply of Redis: 0 in a greeting, and the server is
 * refused; else the code in err. */
int dlki_redis_store_noise(const struct redis_line *line,
			   struct dlk_error *err);

/* Leave a server that has become a replica, as an error to an op may say. */
void dlki_redis_store_leave(struct redis_store *s,
			    const struct redis_reply *reply);

/* 1: the reply is a message of the notification channel. */
int dlki_redis_store_message(struct redis_store *s,
			     const struct redis_reply *reply);

/* Resume the ops that wait for the ear, if the ear is up; if it is quiet, ask
 * whether the server is there.  Sets base.due. */
void dlki_redis_store_listen(struct redis_store *s);

int dlki_redis_store_input(struct redis_store *s, struct redis_line *line,
			   const char *bytes, size_t n, struct dlk_error *err);

#endif
