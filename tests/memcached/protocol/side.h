/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines with the memcached protocol and a real server, which is old enough to
 * grant.  Tests have side_teardown as .fini.
 */
#ifndef TESTS_MEMCACHED_PROTOCOL_SIDE_H
#define TESTS_MEMCACHED_PROTOCOL_SIDE_H

#include "lab/servers/memcached.h"
#include "tests/loop/side.h"

/* A test in each of the two protocols: a body that is given its name. */
#define EITHER_WAY(suite, name)                                                \
	static void name(const char *protocol);                                \
	Test(suite, name##_meta, .fini = side_teardown)                        \
	{                                                                      \
		name("meta");                                                  \
	}                                                                      \
	Test(suite, name##_text, .fini = side_teardown)                        \
	{                                                                      \
		name("text");                                                  \
	}                                                                      \
	static void name(const char *protocol)

/* A server and both sides; `options` may be NULL. */
void side_begin(const char *protocol,
		const struct lab_memcached_options *options);

void side_open_memcached(struct side *s, const char *protocol,
			 const char *query);

/* Wait until the server grants. */
void side_grown_up(const struct side *s);

/* The second of the server's start, which its keys name. */
uint64_t side_born_s(const struct side *s);

/* A line of the text protocol, and the answer; static. */
const char *server_says(const char *line);

#endif
