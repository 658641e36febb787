/* SPDX-License-Identifier: Apache-2.0 */
/* A private ZooKeeper server, and bare loops against it: what the benches
 * share. */
#ifndef DLOCK_BENCH_ZK_SIDE_H
#define DLOCK_BENCH_ZK_SIDE_H

#include "bench/bench.h"

#include <zookeeper/zookeeper.h>

struct lab_server;

/* Where the server keeps its data, and whether it syncs each write there. */
enum zk_data { ZK_TMPFS, ZK_DISK, ZK_DATAS };

struct zk_side {
	struct bench_run *run;
	struct lab_server *lab;
	zhandle_t *bare; /* a session of the client library */
	enum zk_data data;
	char uri[96];
	char dir[112];   /* of the server */
};

/* Start it, on the CPU that this thread is pinned to, and let it run warm.
 * `query` ends the URI: "" or "?ttl=10s".  No session is left open, so that the
 * caller can fork. */
int zk_side_open(struct zk_side *s, struct bench_run *r, enum zk_data data,
		 const char *query);
void zk_side_close(struct zk_side *s);

/* A bare session, in a child of the fork as well.  `events` and `context` are
 * the library's watcher; NULL: none. */
int zk_side_connect(struct zk_side *s, watcher_fn events, void *context);
void zk_side_disconnect(struct zk_side *s);

/* 0, or -1 after bench_fail(): what the client library answered. */
int zk_side_checked(struct zk_side *s, int rc, const char *doing);

/* Floors, for a struct bench_op: create and delete; create, list and delete. */
int zk_bare_pair(void *side);
int zk_bare_recipe(void *side);

/* Packets that the server has received and sent. */
struct zk_packets {
	double received, sent;
};
int zk_packets(struct zk_side *s, struct zk_packets *out);

/* Say in the result where the data was. */
void zk_side_text(const struct zk_side *s, struct bench_result *res);

#endif
