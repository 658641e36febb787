/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/ops.h"

#include <stdlib.h>

static const struct lab_op *first_back(const struct lab_op *a,
				       const struct lab_op *b)
{
	return a && a->returned <= b->returned ? a : b;
}

/* Among the holds with larger tokens: the first to return. */
struct larger {
	const struct lab_op *exclusive;
	const struct lab_op *any;
};

static void compare(struct lab_ops *o, const struct lab_op *op,
		    const struct larger *l)
{
	const struct lab_op *other = lab_op_exclusive(op) ? l->any :
							    l->exclusive;

	if (other && other->returned < op->invoked && !op->stale)
		lab_violation(o->verdict, LAB_RULE_TOKEN,
			      "%s was asked for after %s was granted, and has "
			      "the smaller token",
			      lab_op_text(o, op), lab_op_text(o, other));
}

static void no_twins(struct lab_ops *o, struct lab_op *const *ops, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (ops[i]->holder != ops[0]->holder &&
		    (lab_op_exclusive(ops[i]) || lab_op_exclusive(ops[0])))
			lab_violation(o->verdict, LAB_RULE_TOKEN,
				      "%s and %s have the same token",
				      lab_op_text(o, ops[0]),
				      lab_op_text(o, ops[i]));
}

/* With several permits, whether two holders conflict depends on all others, so
 * a semaphore's order is not checked. */
static bool ordered(const struct lab_op *op)
{
	return op->mode != LAB_PERMIT || op->limit == 1;
}

int lab_check_tokens(struct lab_ops *o, const struct lab_lock *lock)
{
	struct larger larger = { NULL, NULL };
	size_t n;
	struct lab_op **ops = lab_granted(o, lock, &n);
	size_t first;

	if (!ops)
		return -1;
	for (size_t end = n; end > 0; end = first) {
		for (first = end - 1; first > 0; first--)
			if (ops[first - 1]->token != ops[end - 1]->token)
				break;
		if (!ops[first]->token)
			lab_violation(o->verdict, LAB_RULE_TOKEN,
				      "%s has no token",
				      lab_op_text(o, ops[first]));
		if (!ordered(ops[first]))
			continue;
		no_twins(o, ops + first, end - first);
		for (size_t i = first; i < end; i++)
			compare(o, ops[i], &larger);
		for (size_t i = first; i < end; i++) {
			larger.any = first_back(larger.any, ops[i]);
			if (lab_op_exclusive(ops[i]))
				larger.exclusive = first_back(larger.exclusive,
							      ops[i]);
		}
	}
	free(ops);
	return 0;
}

/* Place each acquire and each release at the earliest moment left: if this
 * order does not fit, no other does.  A lease that was over when the acquire
 * was answered may have been over long before.  The two sides of one holder
 * overlap, and are left out. */
static int64_t place_in_order(struct lab_ops *o, const struct lab_op *op,
			      int64_t t)
{
	if (t > op->returned) {
		lab_violation(o->verdict, LAB_RULE_LINEAR,
			      "%s was granted before who had the token before "
			      "it was done",
			      lab_op_text(o, op));
		return op->end > op->returned ? op->end : op->returned;
	}
	if (op->invoked > t)
		t = op->invoked;
	if (op->until > op->returned && op->end > t)
		t = op->end;
	return t;
}

/* When all holds placed so far are over.  A shared hold waits only for the
 * exclusive holds, and may be placed beside other shared ones. */
struct placed {
	int64_t exclusive;
	int64_t any;
};

static void place_next(struct lab_ops *o, const struct lab_op *op,
		       struct placed *p)
{
	int64_t t;

	if (lab_op_exclusive(op)) {
		p->exclusive = p->any = place_in_order(o, op, p->any);
		return;
	}
	t = place_in_order(o, op, p->exclusive);
	if (t > p->any)
		p->any = t;
}

int lab_check_linear(struct lab_ops *o, const struct lab_lock *lock)
{
	struct placed placed = { INT64_MIN, INT64_MIN };
	size_t n;
	struct lab_op **ops = lab_granted(o, lock, &n);

	if (!ops)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (ordered(ops[i]) && !ops[i]->stale && !ops[i]->paired)
			place_next(o, ops[i], &placed);
	free(ops);
	return 0;
}
