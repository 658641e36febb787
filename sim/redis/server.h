/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model Redis: a server of which dlock sees what it would see of Redis
 * 7.0.15 with RESP2.  Bytes of a client go in, bytes for clients come out;
 * there is no socket, no clock, no thread and no chance in it.
 *
 * `now_us` is the server's clock at the time of the call, in microseconds since
 * 1970.  It may be stepped, both ways, between any two calls.
 *
 * What a real server does and the model does not: RESP3, transactions, blocking
 * commands, streams, ACL rules beyond a list of denied commands, replication as
 * a stream (see sim_redis_copy()), and pcall() of errors in Lua, whose second
 * result is the error's text in Redis.
 */
#ifndef DLOCK_SIM_REDIS_SERVER_H
#define DLOCK_SIM_REDIS_SERVER_H

#include <stdint.h>

#include "sim/base/bytes.h"

struct sim_redis;
struct sim_redis_conn;

/* `seed` makes the run id, which differs between seeds and after a restart. */
struct sim_redis *sim_redis_new(uint64_t seed);
void sim_redis_free(struct sim_redis *s);

/* ---- Connections --------------------------------------------------------- */

struct sim_redis_conn *sim_redis_connect(struct sim_redis *s);

/* The connection has ended, however; free it. */
void sim_redis_disconnect(struct sim_redis_conn *c);

/*
 * Bytes from the client.  The requests that are complete are carried out, and
 * the replies are appended to the connection's output; messages are appended to
 * that of the subscribers.
 */
void sim_redis_input(struct sim_redis_conn *c, const void *bytes, size_t len,
		     int64_t now_us);

/* Bytes for the client; whoever delivers them takes them out. */
struct sim_bytes *sim_redis_output(struct sim_redis_conn *c);

/* Whether the server closes the connection after its output: QUIT, a protocol
 * error, or a restart. */
int sim_redis_is_closing(const struct sim_redis_conn *c);

/* ---- Events -------------------------------------------------------------- */

/*
 * The server stops and starts: its connections are closing and what they had
 * not been sent is gone, the scripts are forgotten, and the run id is another.
 * `memory`: it has kept its keys, expired ones aside.
 */
void sim_redis_restart(struct sim_redis *s, int memory);

/* All keys go, or the n-th of them modulo their number, as eviction does it. */
void sim_redis_flush(struct sim_redis *s);
void sim_redis_evict(struct sim_redis *s, uint64_t n);

/* SCRIPT FLUSH, by somebody. */
void sim_redis_forget_scripts(struct sim_redis *s);

/* `replica` gets the keys that `master` has now.  A fail-over to a replica that
 * is behind: copy, go on, and let clients reach the replica. */
void sim_redis_copy(struct sim_redis *replica, const struct sim_redis *master);

/* Each until it is called with 0.  A replica refuses writes; a server that is
 * full refuses what needs memory; a server that is loading refuses all but what
 * a new connection says. */
void sim_redis_set_replica(struct sim_redis *s, int replica);
void sim_redis_set_full(struct sim_redis *s, int full);
void sim_redis_set_loading(struct sim_redis *s, int loading);

/* `password`: of the default user, for AUTH with or without "default"; NULL: no
 * password.  `denied`: command names with blanks around each, which no user may
 * call; or NULL.  `denied` must live as long as the server. */
void sim_redis_set_access(struct sim_redis *s, const char *password,
			  const char *denied);

/* ---- What it has --------------------------------------------------------- */

/* Keys of all databases that have not expired. */
size_t sim_redis_keys(struct sim_redis *s, int64_t now_us);

/* A key of database 0 and its text if it is a string.  NULL: it is not there,
 * or is none.  Borrowed until the next call. */
const struct sim_bytes *sim_redis_string(struct sim_redis *s, const char *key,
					 int64_t now_us);

/* The n-th key of database 0 that has not expired.  NULL: no such key.
 * Borrowed until the next call. */
const char *sim_redis_key(struct sim_redis *s, size_t n, int64_t now_us);

/* The n-th member of a sorted set of database 0 whose score is more than the
 * time in ms.  NULL: no such member.  Borrowed until the next call. */
const char *sim_redis_alive(struct sim_redis *s, const char *key, size_t n,
			    int64_t now_us);

/* Calls of a command so far, those by scripts included. */
uint64_t sim_redis_calls(const struct sim_redis *s, const char *command);

#endif
