/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model Redis: to dlock, the server looks like Redis 7.0.15 with RESP2.
 * Bytes of a client go in, bytes for clients come out; the model has no socket,
 * no clock, no thread and no chance.
 *
 * `now_us` is the server's clock at the time of the call, in microseconds since
 * 1970.  The clock may be stepped, both ways, between any two calls.
 *
 * The model has the commands and the options that dlock sends, and a few for
 * the cases of tests/sim.  The model lacks passwords, ACL rules, replication as
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

/* Free the connection, whichever side ended it. */
void sim_redis_disconnect(struct sim_redis_conn *c);

/*
 * Take bytes from the client.  Complete requests are carried out, and the
 * replies are appended to the connection's output; messages are appended to the
 * output of the subscribers.
 */
void sim_redis_input(struct sim_redis_conn *c, const void *bytes, size_t len,
		     int64_t now_us);

/* Return the bytes for the client; the network takes them out. */
struct sim_bytes *sim_redis_output(struct sim_redis_conn *c);

/* Whether the server closes the connection after the output: a protocol error,
 * or a restart. */
int sim_redis_is_closing(const struct sim_redis_conn *c);

/* ---- Events -------------------------------------------------------------- */

/*
 * Stop and start the server: the connections are closing and bytes not yet sent
 * are gone, the scripts are forgotten, and the run id is another.  `memory`:
 * the server has kept the keys, expired ones aside.
 */
void sim_redis_restart(struct sim_redis *s, int memory);

/* Remove all keys, or the n-th modulo their number, as eviction does. */
void sim_redis_flush(struct sim_redis *s);
void sim_redis_evict(struct sim_redis *s, uint64_t n);

/* Forget all scripts, as after another client's SCRIPT FLUSH. */
void sim_redis_forget_scripts(struct sim_redis *s);

/* Give `replica` the keys that `master` has now.  For a fail-over to a replica
 * that is behind: copy, go on, and let clients reach the replica. */
void sim_redis_copy(struct sim_redis *replica, const struct sim_redis *master);

/* Each until called with 0.  A replica refuses writes; a full server refuses
 * commands that need memory; a loading server refuses all but the commands of a
 * new connection. */
void sim_redis_set_replica(struct sim_redis *s, int replica);
void sim_redis_set_full(struct sim_redis *s, int full);
void sim_redis_set_loading(struct sim_redis *s, int loading);

/* ---- Contents ------------------------------------------------------------ */

/* Count the live keys of all databases. */
size_t sim_redis_keys(struct sim_redis *s, int64_t now_us);

/* Return the text of a key of database 0.  NULL: the key is missing, or no
 * string.  Borrowed until the next call. */
const struct sim_bytes *sim_redis_string(struct sim_redis *s, const char *key,
					 int64_t now_us);

/* Return the n-th live key of database 0.  NULL: no such key.  Borrowed until
 * the next call. */
const char *sim_redis_key(struct sim_redis *s, size_t n, int64_t now_us);

/* Return the n-th member of a sorted set of database 0 whose score is more than
 * the time in ms.  NULL: no such member.  Borrowed until the next call. */
const char *sim_redis_alive(struct sim_redis *s, const char *key, size_t n,
			    int64_t now_us);

#endif
