/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of a command of the model Redis, and functions shared by the commands.
 */
#ifndef DLOCK_SIM_REDIS_CALL_H
#define DLOCK_SIM_REDIS_CALL_H

#include "sim/redis/reply.h"
#include "sim/redis/state.h"

/* A call of a command, by a client or by a client's script. */
struct rm_call {
	struct sim_redis *server;
	struct sim_redis_conn *conn;
	const struct rm_text *argv;
	size_t argc;
	int64_t now_us;
	struct sim_bytes *out; /* where the reply goes */
};

static inline struct rm_db *rm_db_of(const struct rm_call *call)
{
	return &call->server->dbs[call->conn->db];
}

static inline int64_t rm_now_ms(const struct rm_call *call)
{
	return call->now_us / 1000;
}

/*
 * Find the value of a key.  1: it has the type, or the key is missing and *out
 * is NULL; 0: it has another type, and the reply says so.
 */
int rm_find_typed(const struct rm_call *call, struct rm_text key,
		  enum rm_type type, struct rm_value **out);

/* The same, and makes a missing value. */
int rm_make_typed(const struct rm_call *call, struct rm_text key,
		  enum rm_type type, struct rm_value **out);

/* 1, or the reply says that the argument is no integer. */
int rm_integer_arg(const struct rm_call *call, size_t at, int64_t *out);

void rm_reply_syntax(const struct rm_call *call);
void rm_reply_subcommand(const struct rm_call *call, const char *command);
void rm_reply_arity(const struct rm_call *call);

#endif
