/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "sim/redis/call.h"
#include "sim/redis/commands.h"

static int find(const struct rm_call *call, struct rm_value **out)
{
	return rm_find_typed(call, call->argv[1], RM_ZSET, out);
}

/* ---- ZADD ---------------------------------------------------------------- */

/* 1; or the reply is an error. */
static int check(const struct rm_call *call, size_t first)
{
	double score;

	if (first == call->argc || (call->argc - first) % 2 != 0) {
		rm_reply_syntax(call);
		return 0;
	}
	for (size_t i = first; i < call->argc; i += 2) {
		if (!rm_double(call->argv[i], &score)) {
			rm_reply_error(call->out,
				       "ERR value is not a valid float");
			return 0;
		}
	}
	return 1;
}

/* "ZADD KEY [NX] SCORE MEMBER ..." */
void rm_zadd(const struct rm_call *call)
{
	int nx = rm_is(call->argv[2], "NX");
	size_t first = nx ? 3 : 2;
	struct rm_value *v;
	double score;
	int64_t n = 0;

	if (!check(call, first) ||
	    !rm_make_typed(call, call->argv[1], RM_ZSET, &v))
		return;
	for (size_t i = first; i < call->argc; i += 2) {
		struct rm_text member = call->argv[i + 1];

		(void)rm_double(call->argv[i], &score);
		if (!nx || !rm_zset_find(&v->zset, member))
			n += rm_zset_add(&v->zset, member, score);
	}
	rm_reply_integer(call->out, n);
}

/* ---- Others -------------------------------------------------------------- */

void rm_zrem(const struct rm_call *call)
{
	struct rm_value *v;
	int64_t n = 0;

	if (!find(call, &v))
		return;
	for (size_t i = 2; v && i < call->argc; i++)
		n += rm_zset_remove(&v->zset, call->argv[i]);
	rm_db_tidy(rm_db_of(call), call->argv[1]);
	rm_reply_integer(call->out, n);
}

void rm_zcard(const struct rm_call *call)
{
	struct rm_value *v;

	if (find(call, &v))
		rm_reply_integer(call->out,
				 v ? (int64_t)rm_zset_n(&v->zset) : 0);
}

/* Find the member in argv[2]; without one the reply is nil. */
static const struct rm_member *find_member(const struct rm_call *call,
					   struct rm_value **v)
{
	const struct rm_member *member;

	if (!find(call, v))
		return NULL;
	member = *v ? rm_zset_find(&(*v)->zset, call->argv[2]) : NULL;
	if (!member)
		rm_reply_nil(call->out);
	return member;
}

void rm_zscore(const struct rm_call *call)
{
	struct rm_value *v;
	const struct rm_member *member = find_member(call, &v);

	if (member)
		rm_reply_double(call->out, member->score);
}

void rm_zrank(const struct rm_call *call)
{
	struct rm_value *v;
	const struct rm_member *member = find_member(call, &v);

	if (member)
		rm_reply_integer(call->out,
				 (int64_t)rm_zset_rank(&v->zset, member));
}
