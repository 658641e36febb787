/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sim/base/memory.h"
#include "sim/redis/call.h"
#include "sim/redis/commands.h"

static int find(const struct rm_call *call, struct rm_value **out)
{
	return rm_find_typed(call, call->argv[1], RM_LIST, out);
}

static void reply_item(const struct rm_call *call, const struct sim_bytes *item)
{
	rm_reply_text(call->out,
		      (struct rm_text){ sim_bytes_text(item), item->len });
}

static void push(const struct rm_call *call, int left)
{
	struct rm_value *v;

	if (!rm_make_typed(call, call->argv[1], RM_LIST, &v))
		return;
	for (size_t i = 2; i < call->argc; i++) {
		size_t at = left ? 0 : v->n_items;

		v->items = sim_grow(v->items, v->n_items + 1,
				    sizeof(*v->items));
		memmove(&v->items[at + 1], &v->items[at],
			(v->n_items - at) * sizeof(*v->items));
		v->n_items++;
		v->items[at] = (struct sim_bytes){ 0 };
		sim_bytes_add(&v->items[at], call->argv[i].s,
			      call->argv[i].len);
	}
	rm_reply_integer(call->out, (int64_t)v->n_items);
}

void rm_lpush(const struct rm_call *call)
{
	push(call, 1);
}

void rm_rpush(const struct rm_call *call)
{
	push(call, 0);
}

void rm_lpop(const struct rm_call *call)
{
	struct rm_value *v;

	if (!find(call, &v))
		return;
	if (!v) {
		rm_reply_nil(call->out);
		return;
	}
	reply_item(call, &v->items[0]);
	sim_bytes_free(&v->items[0]);
	v->n_items--;
	memmove(&v->items[0], &v->items[1], v->n_items * sizeof(*v->items));
	rm_db_tidy(rm_db_of(call), call->argv[1]);
}

void rm_llen(const struct rm_call *call)
{
	struct rm_value *v;

	if (find(call, &v))
		rm_reply_integer(call->out, v ? (int64_t)v->n_items : 0);
}

void rm_lrange(const struct rm_call *call)
{
	struct rm_value *v;
	int64_t first, last, n;

	if (!rm_integer_arg(call, 2, &first) ||
	    !rm_integer_arg(call, 3, &last) || !find(call, &v))
		return;
	n = v ? (int64_t)v->n_items : 0;
	first = first < 0 ? first + n : first;
	last = last < 0 ? last + n : last;
	first = first < 0 ? 0 : first;
	last = last >= n ? n - 1 : last;
	rm_reply_array(call->out,
		       last >= first ? (size_t)(last - first + 1) : 0);
	for (int64_t i = first; v && i <= last; i++)
		reply_item(call, &v->items[i]);
}
