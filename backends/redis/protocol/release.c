/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/store.h"
#include "core/base/digits.h"

/* Of a hold: before, no waiter can have come. */
#define PING_FROM_NS (DLK_MS / 10)

/*
 * Is a PING to be sent ahead of the release?  When the server can write to
 * several clients, the server writes first to the client for which an answer
 * was ready last.  The answer to a release is ready behind the grant message
 * to the next waiter, so the releaser would run before the waiter.  The answer
 * to a PING ahead of the release turns the order round.  The answer to any
 * request ahead of the release, in the same write, serves as well.
 *
 * The PING costs the server time.  A hold goes without when the hold was too
 * short for a waiter to have come, and when a grant message brought the hold:
 * then the lock passes on all the time, and the server is the bottleneck.
 */
static int wants_ping(const struct redis_store *s, const struct dlki_op *op)
{
	return op->lease_heard != 0 && !op->closing && !op->pushed &&
	       !dlki_has_output(s->main.link) &&
	       s->now - op->lease_heard > PING_FROM_NS;
}

/* The lock's key begins with the first argument, and keeps the token until a
 * second after the clock has passed the token. */
void dlki_redis_store_release(struct redis_store *s, struct dlki_op *op)
{
	char expected[2 + RD_GRANT_SIZE] = "0 ";
	char until[DLKI_DIGITS], used[DLKI_DIGITS];
	struct redis_arg grant = dlki_redis_grant(op->request->owner, op->token,
						  expected + 2);
	const struct redis_arg args[] = {
		{ expected, 2 + (op->token != 0 ? grant.len : RD_OWNER_LEN) },
		{ grant.text + RD_OWNER_LEN + 1, RD_TOKEN_LEN },
		{ until, dlki_digits(until, op->token / 1000 + 1000) },
		{ used, dlki_digits(used, op->token_used) },
	};
	struct redis_script_call call = { s->plain ? RD_RELEASE_PLAIN :
						     RD_RELEASE,
					  args, 1 };

	if (op->token != 0)
		call.n_args = op->token_used != 0 ? 4 : 3;
	if (wants_ping(s, op) && s->knows[call.script])
		dlki_redis_store_probe(s->main.link);
	dlki_redis_store_call(s, op, &call);
}
