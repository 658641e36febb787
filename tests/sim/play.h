/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases of a store's protocol: requests, and what the server must reply.  They
 * are played against the model and against a real server.
 *
 * A file of cases, line by line; empty lines and those with # say nothing:
 *
 *   = NAME             a case begins: no keys, no scripts, no connections
 *   server OPTIONS     another server from the next case on, see the program
 *   A> WORD WORD ...   connection A, one of A to F, sends a request; a word may
 *                      be quoted, with \n, \r, \", \\ and \xHH in it, and have
 *                      marks in it (tests/sim/notation.h, language_memcached.c)
 *   A$ FIELD ... |     likewise, and the reply is a text of "field:value" lines
 *      WORD WORD ...   of which only these fields are looked at
 *   A~ WORD WORD ...   likewise; the order of the reply's array is no matter
 *   A! "BYTES"         the connection sends these bytes
 *   B< REPLY           connection B must get this reply, or "closed"
 *   REPLY              the connection that sent last must get it
 *   gone KEY           wait until the key has expired
 *   wall MS            the server's clock is stepped
 *   tenth              wait until a tenth of a second begins by that clock
 *   tick               wait until the server's count of seconds has advanced
 *   fill               let the server have no memory left
 */
#ifndef DLOCK_TESTS_SIM_PLAY_H
#define DLOCK_TESTS_SIM_PLAY_H

#include <stdint.h>
#include <stdio.h>

#include "sim/language.h"

/* The server that the cases are played against. */
struct play_server {
	const struct play_language *language;

	/* Open a connection in the place of the n-th, if there is one. */
	void (*open)(struct play_server *s, int n);
	void (*close)(struct play_server *s, int n);
	void (*send)(struct play_server *s, int n, const char *bytes,
		     size_t len);
	/* Append one whole reply.  0: the connection ended instead; -1: no
	 * reply comes. */
	int (*reply)(struct play_server *s, int n, struct sim_bytes *out);
	int64_t (*now_us)(struct play_server *s); /* by the server's clock */
	void (*nap)(struct play_server *s);       /* a millisecond */
	void (*wall)(struct play_server *s, int64_t ms);

	/* For "server", "tick" and "fill"; NULL: not of this store.  start()
	 * opens connection PLAY_CONTROL, too. */
	void (*start)(struct play_server *s, const char *options);
	uint64_t (*count)(struct play_server *s);
	void (*fill)(struct play_server *s);
};

enum { PLAY_CONNECTIONS = 6, PLAY_CONTROL = PLAY_CONNECTIONS };

struct play_count {
	int cases, replies, failures;
};

/*
 * Play a file.  What differs goes to stdout.  With `record` the replies in the
 * file are not looked at, but the file is written there with those that came; a
 * request without replies in it, unless it is of "A!", gets one.
 */
struct play_count play(struct play_server *s, const char *path, FILE *record);

#endif
