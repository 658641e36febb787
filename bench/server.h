/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private Redis server, and a bare hiredis connection to it: what the redis:
 * benches have in common.
 */
#ifndef DLOCK_BENCH_SERVER_H
#define DLOCK_BENCH_SERVER_H

#include "bench/bench.h"

struct lab_server;
struct redisContext;

struct server {
	struct bench_run *run;
	struct lab_server *lab;
	struct redisContext *bare;
	char uri[96];
	char unlock[41]; /* the hash of the compare-and-delete script */
};

/* Start it, on the CPU that this thread is pinned to, and connect.  `query`
 * ends the URI: "" or "?ttl=10s". */
int server_open(struct server *s, struct bench_run *r, const char *query);
void server_close(struct server *s);

/* In a forked child: a connection of its own to the parent's server. */
int server_connect(struct server *s);
void server_disconnect(struct server *s);

/* The floors, each for a struct bench_op; `server` is a struct server. */
int server_ping(void *server);
int server_bare_pair(void *server); /* SET NX PX, compare-and-delete */

/* SET NX PX once: 1 if it is taken, 0 if others have it, -1 after
 * bench_fail(). */
int server_bare_try(struct server *s);
int server_bare_give(struct server *s);

/* The median of PING round trips in nanoseconds; `pause_ns` between two. */
double server_ping_p50(struct server *s, size_t n, int64_t pause_ns);

/* How many scripts clients have asked it to run, and how long it took over
 * each on average, in microseconds.  BENCH_NONE: it does not say. */
struct server_load {
	double scripts, script_us, published;
};

int server_load(struct server *s, struct server_load *out);

#endif
