/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines with the Redis protocol and a real server, and claims of theirs.
 * Tests have side_setup as .init and side_teardown as .fini.
 */
#ifndef TESTS_REDIS_PROTOCOL_SIDE_H
#define TESTS_REDIS_PROTOCOL_SIDE_H

#include "lab/servers/redis.h"
#include "tests/loop/side.h"

/* `login` is of the URI, ":password@". */
void side_open_redis(struct side *s, const char *login, const char *query);

void side_setup(void); /* a server and both sides */

/* BUSY, and the ear is up from now on. */
void claim_ask_in_vain(struct claim *c);

/* Park until the claim is granted by a message. */
void claim_await_push(struct claim *c);

#endif
