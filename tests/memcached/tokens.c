/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens are on the scale of the other stores: microseconds since 1970. */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND UINT64_C(1000000)

/* A client to which the names moved at that time. */
static dlock_client *moved(const struct scene *s, uint64_t at_us)
{
	char query[64];

	snprintf(query, sizeof(query), "token_base=%" PRIu64, at_us);
	return direct(s, query);
}

EITHER_WAY(memcached_tokens, they_are_larger_than_those_before_the_move)
{
	uint64_t last = taken(mutex(direct(&s, ""), "x"));

	for (int i = 0; i < 3; i++) {
		uint64_t at;

		EVENTUALLY(wall_us() > last + SECOND);
		at = wall_us();
		last = taken(mutex(moved(&s, at), "x"));
		CHECK_INT(last, >, at);
		/* So the way back is free, too. */
		CHECK_INT(last, <, at + SECOND);
	}
}

/* The clock goes on while the server is down. */
EITHER_WAY(memcached_tokens, they_rise_over_a_restart_after_a_move)
{
	uint64_t at = wall_us();
	dlock_lock *l = mutex(moved(&s, at), "x");
	uint64_t last = taken(l);

	CHECK_INT(last, >, at);
	/* The server's clock may be late by so much. */
	EVENTUALLY(wall_us() > at + 3 * SECOND);
	for (int i = 0; i < 2; i++) {
		uint64_t token;

		CHECK_INT(lab_server_kill(s.server), ==, 0);
		CHECK_INT(lab_server_restart(s.server, false), ==, 0);
		end_now(direct(&s, "")); /* waits until the server grants */
		token = taken(l);
		CHECK_INT(token, >, last);
		CHECK_INT(token, <=, wall_us());
		last = token;
	}
}
