/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases of a store's protocol: requests, and the replies.  They are played
 * against the model and against a real server.
 *
 * A file of cases, line by line, with empty lines, and comments behind #:
 *
 *   = NAME             a case begins: no keys, no scripts, no connections
 *   server OPTIONS     another server from the next case on, see the program
 *   A> WORD WORD ...   connection A, of A to F, sends a request; a word may be
 *                      quoted, with \n, \r, \", \\ and \xHH, and may have
 *                      marks (tests/sim/notation.h, language_memcached.c)
 *   A$ FIELD ... |     likewise; only these fields count of the reply, a text
 *      WORD WORD ...   of "field:value" lines
 *   A~ WORD WORD ...   likewise; the order of the reply's array does not count
 *   A! "BYTES"         the connection sends these bytes
 *   B< REPLY           connection B must get this reply, or "closed"
 *   REPLY              the last sending connection must get this reply, which
 *                      may also stand in the request's line, behind " => "
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

/* The server of the cases. */
struct play_server {
	const struct play_language *language;

	/* Open the n-th connection, and close the former n-th, if any. */
	void (*open)(struct play_server *s, int n);
	void (*close)(struct play_server *s, int n);
	void (*send)(struct play_server *s, int n, const char *bytes,
		     size_t len);
	/* Append a whole reply.  0: the connection ended instead; -1: no
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
 * Play a file, and print differences to stdout.  With `record`, print the file
 * with the server's replies instead; a request without a reply in the file gets
 * a reply, but not "A!".
 */
struct play_count play(struct play_server *s, const char *path, FILE *record);

#endif
