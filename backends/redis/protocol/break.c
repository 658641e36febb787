/* SPDX-License-Identifier: Apache-2.0 */
/* Breaking calls a script twice: first to tell the holders, then to take the
 * lock from these holders, but not from a later holder. */
#include <string.h>

#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/store.h"

_Static_assert((int)RD_SEEN_LEN < (int)DLKI_ABOUT, "the text and a NUL");

static void break_up_to(struct redis_store *s, struct dlki_op *op,
			const char *seen)
{
	const struct redis_arg args[] = {
		{ seen, RD_TOKEN_LEN },
		{ seen + RD_TOKEN_LEN, strlen(seen) - RD_TOKEN_LEN },
	};
	const struct redis_script_call call = { RD_BREAK, args,
						s->plain ? 2 : 1 };

	dlki_redis_store_call(s, op, &call);
}

static int knows_holders(const struct dlki_op *op)
{
	return op->about && op->about[0];
}

void dlki_redis_store_break(struct redis_store *s, struct dlki_op *op)
{
	const struct redis_script_call call = { RD_BREAK, NULL, 0 };

	if (!dlki_redis_store_may_ask(s, op))
		return;
	if (knows_holders(op))
		break_up_to(s, op, op->about);
	else
		dlki_redis_store_call(s, op, &call);
}

enum redis_taken dlki_redis_store_broken(struct redis_store *s,
					 const struct redis_answer *a)
{
	int64_t done;
	int has_seen = dlki_redis_is_seen(a->reply, s->plain);

	if (!has_seen && !dlki_redis_number(a->reply, 0, &done))
		return RD_SENSELESS;
	if (!a->op)
		return RD_TAKEN;
	if (has_seen != (a->op->requests == 1 && !knows_holders(a->op)))
		return RD_SENSELESS;
	if (!has_seen) {
		dlki_answered(a->op, 1);
		return RD_TAKEN;
	}
	if (a->op->about)
		memcpy(a->op->about, a->reply->text, a->reply->len + 1);
	break_up_to(s, a->op, a->reply->text);
	return RD_TAKEN;
}
