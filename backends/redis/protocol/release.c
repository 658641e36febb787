/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/store.h"

/* The answer to any request ahead of the release, in the same write, serves as
 * well as the answer to a PING. */
static int wants_ping(const struct redis_store *s, const struct dlki_op *op)
{
	return op->lease_heard != 0 && !op->closing &&
	       !dlki_has_output(s->main.link) &&
	       dlki_redis_ping_pays(op->lease_heard, op->pushed, s->now);
}

void dlki_redis_store_release(struct redis_store *s, struct dlki_op *op)
{
	struct redis_release args;
	struct redis_script_call call = {
		.script = s->plain ? RD_RELEASE_PLAIN : RD_RELEASE,
		.args = args.args,
	};

	dlki_redis_release_args(&args, op->request->owner, op->token,
				op->token_used);
	call.n_args = args.n_args;
	if (wants_ping(s, op) && s->knows[call.script])
		dlki_redis_store_probe(s->main.link);
	dlki_redis_store_call(s, op, &call);
}
