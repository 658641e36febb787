/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/store.h"

/* A larger difference is no delay: the clock was set. */
enum { STEP_MS = 250 };

void dlki_redis_store_renew(struct redis_store *s, struct dlki_op *op)
{
	char grant[RD_GRANT_SIZE];
	const struct redis_arg args[] = {
		dlki_redis_grant(op->request->owner, op->token, grant),
		s->ttl,
	};
	const struct redis_script_call call = { s->plain ? RD_RENEW_PLAIN :
							   RD_RENEW,
						args, 2 };

	dlki_redis_store_call(s, op, &call);
}

/* ---- The answer ---------------------------------------------------------- */

static void warn_of_clock(struct redis_store *s, int64_t off_ms)
{
	char text[100];

	if (s->warned && s->now - s->warned < s->agreed.lease_ms * DLK_MS)
		return;
	s->warned = s->now;
	snprintf(text, sizeof(text),
		 "the server's clock was set by %" PRId64
		 " ms: leases there end that much %s",
		 off_ms < 0 ? -off_ms : off_ms,
		 off_ms < 0 ? "earlier" : "later");
	dlki_warn(&s->base, text);
}

/* Check the server's clock: the rest of the lease, by the server, must agree
 * with the time passed. */
static void check_clock(struct redis_store *s, const struct redis_answer *a,
			int64_t left_ms)
{
	int64_t ttl_ms = s->agreed.lease_ms;
	int64_t most, least;

	if (a->op->lease_from == 0)
		return;
	most = ttl_ms - (a->since - a->op->lease_heard) / DLK_MS;
	least = ttl_ms - (s->now - a->op->lease_from) / DLK_MS;
	if (left_ms > most + STEP_MS)
		warn_of_clock(s, left_ms - most);
	else if (left_ms < least - STEP_MS)
		warn_of_clock(s, left_ms - least);
}

enum redis_taken dlki_redis_store_renewed(struct redis_store *s,
					  const struct redis_answer *a)
{
	int64_t left_ms;

	if (!dlki_redis_number(a->reply, -1, &left_ms))
		return RD_SENSELESS;
	if (a->op && left_ms >= 0)
		check_clock(s, a, left_ms);
	dlki_answered(a->op, left_ms >= 0);
	return RD_TAKEN;
}
