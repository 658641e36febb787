/* SPDX-License-Identifier: Apache-2.0 */
/* Watch a claim, and ask the client that watches a claim. */
#include <string.h>

#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/store.h"

/* Watch, once the ear listens: an earlier message would be lost. */
void dlki_redis_store_watch(struct redis_store *s, struct dlki_op *op)
{
	char grant[RD_GRANT_SIZE];
	const struct redis_arg args[] = {
		dlki_redis_grant(op->request->owner, op->token, grant),
		{ s->channel, strlen(s->channel) },
		s->ttl,
	};
	const struct redis_script_call call = { RD_WATCH, args, 3 };

	if (dlki_is_up(s->ear.link)) {
		dlki_redis_store_call(s, op, &call);
	} else {
		dlki_want(s->ear.link);
		dlki_hold(op);
	}
}

enum redis_taken dlki_redis_store_watched(struct redis_store *s,
					  const struct redis_answer *a)
{
	struct redis_watch_answer answer;

	(void)s;
	if (!dlki_redis_watch_answer(a->reply, &answer))
		return RD_SENSELESS;
	if (answer.last == 0)
		dlki_answered(a->op, 0);
	else
		dlki_watched(a->op, answer.others, answer.last);
	return RD_TAKEN;
}

void dlki_redis_store_revoke(struct redis_store *s, struct dlki_op *op)
{
	const struct redis_script_call call = { RD_REVOKE, NULL, 0 };

	dlki_redis_store_call(s, op, &call);
}
