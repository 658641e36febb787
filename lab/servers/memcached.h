/* SPDX-License-Identifier: Apache-2.0 */
/* Private memcached servers: see lab/servers/server.h. */
#ifndef DLOCK_LAB_MEMCACHED_H
#define DLOCK_LAB_MEMCACHED_H

#include "lab/servers/server.h"

/* Zeroed: a server with 64 MB and two threads. */
struct lab_memcached_options {
	int memory_mb;   /* at least 2 */
	int threads;
	bool without_tls;/* at s->port, if `args` have it elsewhere */
	bool no_evict;   /* a full server refuses rather than forgets (-M) */
	const char *const *args; /* more arguments, ended by NULL */
};

/* Start a memcached.  NULL: all zeroes.  Pointers in `o` must live until the
 * server is freed. */
struct lab_server *
lab_memcached_start(const struct lab_memcached_options *options);

/*
 * Send a line of the text protocol ("flush_all", "stats") and read the answer
 * to the last line.  CLIENT_ERROR and the like are failures.  `reply` may be
 * NULL, and size 0.
 */
int lab_memcached_do(struct lab_server *s, char *reply, size_t size,
		     const char *line);

#endif
