/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/call.h"
#include "sim/redis/commands.h"

static int find(const struct rm_call *call, struct rm_value **out)
{
	return rm_find_typed(call, call->argv[1], RM_HASH, out);
}

static void reply_field(const struct rm_call *call, const struct rm_value *v,
			struct rm_text field)
{
	const struct sim_bytes *b = v ? rm_hash_find(v, field) : NULL;

	if (b)
		rm_reply_text(call->out,
			      (struct rm_text){ sim_bytes_text(b), b->len });
	else
		rm_reply_nil(call->out);
}

void rm_hget(const struct rm_call *call)
{
	struct rm_value *v;

	if (find(call, &v))
		reply_field(call, v, call->argv[2]);
}

void rm_hmget(const struct rm_call *call)
{
	struct rm_value *v;

	if (!find(call, &v))
		return;
	rm_reply_array(call->out, call->argc - 2);
	for (size_t i = 2; i < call->argc; i++)
		reply_field(call, v, call->argv[i]);
}

void rm_hset(const struct rm_call *call)
{
	struct rm_value *v;
	int64_t n = 0;

	if (call->argc % 2 != 0) {
		rm_reply_arity(call);
		return;
	}
	if (!rm_make_typed(call, call->argv[1], RM_HASH, &v))
		return;
	for (size_t i = 2; i < call->argc; i += 2)
		n += rm_hash_put(v, call->argv[i], call->argv[i + 1]);
	rm_reply_integer(call->out, n);
}

void rm_hdel(const struct rm_call *call)
{
	struct rm_value *v;
	int64_t n = 0;

	if (!find(call, &v))
		return;
	for (size_t i = 2; v && i < call->argc; i++)
		n += rm_hash_remove(v, call->argv[i]);
	rm_db_tidy(rm_db_of(call), call->argv[1]);
	rm_reply_integer(call->out, n);
}
