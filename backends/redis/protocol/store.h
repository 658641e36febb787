/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis store as a protocol of the engine: bytes in, bytes out.
 *
 * The scripts are the backend's, under backends/redis/scripts/, within a few
 * lines that add the server's clock to BUSY and to grant messages.
 * Clients of the backend and of the protocol understand each other.
 *
 * The main link brings the answers; the ear listens to the notification channel
 * from the first BUSY on.  An op's `id` is the attempt number, below 2^53.
 */
#ifndef DLOCK_REDIS_PROTOCOL_STORE_H
#define DLOCK_REDIS_PROTOCOL_STORE_H

#include "backends/redis/command.h"
#include "backends/redis/reply.h"
#include "core/loop/protocol.h"

extern const struct dlki_protocol dlki_redis_protocol;

enum redis_text {
	RD_TEXT_EXCLUSIVE,
	RD_TEXT_SHARED,
	RD_TEXT_RENEW,
	RD_TEXT_RELEASE,
	RD_TEXTS
};

/* The answers that a greeting awaits. */
enum redis_greeting {
	RD_GREET_LOGIN,     /* AUTH, SELECT: must not fail */
	RD_GREET_NAME,      /* CLIENT SETNAME: may not be permitted */
	RD_GREET_INFO,      /* main: is the server recent enough? */
	RD_GREET_SUBSCRIBE, /* ear */
	RD_GREET_PING       /* ear, when it has been quiet */
};

/* A link, and the state of the connection. */
struct redis_line {
	struct dlki_link *link;
	struct redis_reader reader;
	int has_reader;
	enum redis_greeting greeting[6];
	size_t greetings, greeted;
	dlk_time heard;
};

enum { RD_STORE_OWNER = 32, RD_STORE_TOKEN = 16 };

struct redis_store {
	struct dlki_store base;
	struct redis_line main, ear;
	struct dlki_terms terms;
	char order; /* 'f'air or 'a'ny */
	uint32_t db;
	char ttl[24];
	size_t ttl_len, label_len;
	char channel[124];
	char clock[80];       /* prefix:clock */
	size_t clock_len;
	int knows[RD_TEXTS];  /* the server has the script, as far as known */
};

/* A call of a script. */
struct redis_script_call {
	enum redis_text text;
	const char *key; /* of dlk_request */
	struct redis_arg args[4];
	size_t n_args;
};

/* Send a call for an op; without memory the op fails. */
void dlki_redis_store_call(struct redis_store *s, struct dlki_op *op,
			   const struct redis_script_call *call);

/* ---- The verbs: attempt.c, renew.c, release.c ---------------------------- */

void dlki_redis_store_attempt(struct redis_store *s, struct dlki_op *op);
void dlki_redis_store_renew(struct redis_store *s, struct dlki_op *op);
void dlki_redis_store_release(struct redis_store *s, struct dlki_op *op);

/* The answer to `op`, which may be NULL; 0: the answer makes no sense. */
int dlki_redis_store_attempted(struct redis_store *s, struct dlki_op *op,
			       const struct redis_reply *reply);
int dlki_redis_store_renewed(struct dlki_op *op,
			     const struct redis_reply *reply);
int dlki_redis_store_released(struct dlki_op *op,
			      const struct redis_reply *reply);

/* ---- Connections: greet.c, input.c, ear.c -------------------------------- */

void dlki_redis_store_greet(struct redis_store *s, struct redis_line *line);

/* Ask whether the server is there; on a link whose greeting is over. */
void dlki_redis_store_ping(struct redis_line *line);

/* An answer of the greeting: 0, or why the connection ends. */
int dlki_redis_store_greeted(struct redis_store *s, struct redis_line *line,
			     const struct redis_reply *reply,
			     struct dlk_error *err);

/* 1: the reply is a message of the notification channel. */
int dlki_redis_store_message(struct redis_store *s,
			     const struct redis_reply *reply);

/* The ear is quiet: ask whether the server is there.  Sets base.due. */
void dlki_redis_store_listen(struct redis_store *s, dlk_time now);

int dlki_redis_store_input(struct redis_store *s, struct redis_line *line,
			   const char *bytes, size_t n, dlk_time now,
			   struct dlk_error *err);

#endif
