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

		scene_restart(&s);
		token = taken(l);
		CHECK_INT(token, >, last);
		CHECK_INT(token, <=, wall_us());
		last = token;
	}
}

/* They would fall when the names move on, and at the next restart. */
CASE(memcached_tokens, a_move_in_the_future_is_refused)
{
	struct scene s = scene_new("auto", NULL);
	dlock_client *c = NULL;
	char uri[128];

	snprintf(uri, sizeof(uri),
		 "memcached://127.0.0.1:%d/?token_base=%" PRIu64,
		 s.server->port, wall_us() + 10 * SECOND);
	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "'token_base'");
	CHECK_TEXT(dlock_errmsg(), "ahead of the server's clock");
	snprintf(uri, sizeof(uri),
		 "memcached://127.0.0.1:%d/?token_base=yesterday",
		 s.server->port);
	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "token_base");
}
