/* SPDX-License-Identifier: Apache-2.0 */
/* A private memcached, and bare loops against it: what the benches share. */
#ifndef DLOCK_BENCH_MEMCACHED_SIDE_H
#define DLOCK_BENCH_MEMCACHED_SIDE_H

#include "bench/bench.h"

struct lab_server;
struct memcached_st;

struct memcached_side {
	struct bench_run *run;
	struct lab_server *lab;
	struct memcached_st *bare; /* libmemcached, text protocol */
	int fd;                    /* a bare socket, for the meta protocol */
	char uri[2][96];           /* text, meta */
};

int memcached_side_open(struct memcached_side *s, struct bench_run *r);
void memcached_side_close(struct memcached_side *s);

/* Floors, for a struct bench_op: libmemcached's add, gets, cas that is over at
 * once; and `ms` (only add), `md` with its cas. */
int memcached_bare_text(void *side);
int memcached_bare_meta(void *side);

/* How many requests to take something it has seen; -1 after bench_fail(). */
double memcached_adds(struct memcached_side *s);

#endif
