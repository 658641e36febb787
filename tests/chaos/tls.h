/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port for TLS, for a Redis server; with CHAOS_TLS only.
 */
#ifndef TESTS_CHAOS_TLS_H
#define TESTS_CHAOS_TLS_H

struct chaos_tls {
	int port;          /* 0: no TLS */
	char config[1024]; /* lines of redis.conf */
};

/* Reserve a new port, with a certificate by an authority of this run's. */
int chaos_tls_new(struct chaos_tls *t);

/* The authority's file. */
const char *chaos_tls_ca(void);

#endif
