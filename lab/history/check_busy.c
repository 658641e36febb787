/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/ops.h"

#include <dlock/dlock.h>
#include <stdlib.h>

/* How far the operations that can keep others out reach, up to the i-th in the
 * order of their calls. */
struct reach {
	int64_t any;
	int64_t exclusive;
};

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A writer that waits in vain keeps out readers behind the writer, which must
 * not pass.  Others are kept out by the hold that the writer waited for. */
static struct reach add_reach(struct reach r, const struct lab_op *op)
{
	bool busy = op->rc == DLOCK_EBUSY && !op->granted;
	int64_t end = busy ? op->returned : op->indeterminate;

	if (!busy)
		r.any = most(r.any, end);
	if (lab_op_exclusive(op))
		r.exclusive = most(r.exclusive, end);
	return r;
}

/* How many of the sorted operations were called by `at`. */
static size_t called_by(const struct lab_op *ops, size_t n, int64_t at)
{
	size_t lo = 0;

	while (lo < n) {
		size_t mid = lo + (n - lo) / 2;

		if (ops[mid].invoked <= at)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

int lab_check_busy(struct lab_ops *o, const struct lab_lock *lock)
{
	const struct lab_op *ops = o->ops + lock->first;
	struct reach *reach = malloc((lock->count + 1) * sizeof(*reach));
	const struct lab_op *op;
	struct reach r;

	if (!reach)
		return -1;
	reach[0].any = reach[0].exclusive = INT64_MIN;
	for (size_t i = 0; i < lock->count; i++)
		reach[i + 1] = add_reach(reach[i], &ops[i]);
	for (size_t i = 0; i < lock->count; i++) {
		op = &ops[i];
		if (op->returned == LAB_NEVER || op->rc != DLOCK_EBUSY)
			continue;
		r = reach[called_by(ops, lock->count, op->returned)];
		if ((op->mode == LAB_READ ? r.exclusive : r.any) >= op->invoked)
			continue;
		o->verdict->stray_busy++;
		if (o->check->strict_busy)
			lab_violation(o->verdict, LAB_RULE_BUSY,
				      "%s was busy with nobody in the way",
				      lab_op_text(o, op));
	}
	free(reach);
	return 0;
}
