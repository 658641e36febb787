/* SPDX-License-Identifier: Apache-2.0 */
/* Single operations: in words, and a lock's granted operations. */
#include "lab/history/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int print_time(char *out, size_t size, const char *what, int64_t at)
{
	if (at == LAB_NEVER)
		return snprintf(out, size, "; %s -", what);
	return snprintf(out, size, "; %s %.6f", what, (double)at / 1e9);
}

const char *lab_op_text(const struct lab_ops *o, const struct lab_op *op)
{
	static const char *const modes[] = { "mutex", "write", "read",
					     "permit" };
	static _Thread_local char texts[4][400];
	static _Thread_local unsigned next;
	char *out = texts[next++ % 4];
	size_t size = sizeof(texts[0]);
	size_t len;

	len = (size_t)snprintf(out, size,
			       "[%s '%s' pid %u op %" PRIx64 " token %" PRIu64
			       " rc %d",
			       modes[op->mode], o->locks[op->lock].name,
			       op->pid, op->id, op->token, op->rc);
	len += (size_t)print_time(out + len, size - len, "asked", op->invoked);
	len += (size_t)print_time(out + len, size - len, "got", op->returned);
	len += (size_t)print_time(out + len, size - len, "until", op->until);
	len += (size_t)print_time(out + len, size - len, "lost", op->lost);
	len += (size_t)print_time(out + len, size - len, "release",
				  op->release);
	len += (size_t)print_time(out + len, size - len, "promised to",
				  op->end);
	snprintf(out + len, size - len, "]");
	return out;
}

static int by_token(const void *a, const void *b)
{
	const struct lab_op *x = *(struct lab_op *const *)a;
	const struct lab_op *y = *(struct lab_op *const *)b;

	if (x->token != y->token)
		return x->token < y->token ? -1 : 1;
	return (x->invoked > y->invoked) - (x->invoked < y->invoked);
}

struct lab_op **lab_granted(const struct lab_ops *o,
			    const struct lab_lock *lock, size_t *count)
{
	struct lab_op **ops =
		malloc((lock->count + 1) * sizeof(struct lab_op *));

	*count = 0;
	for (size_t i = 0; ops && i < lock->count; i++)
		if (o->ops[lock->first + i].granted)
			ops[(*count)++] = &o->ops[lock->first + i];
	if (ops)
		qsort(ops, *count, sizeof(struct lab_op *), by_token);
	return ops;
}
