/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds without a request: a client passes a claim from a thread to the next,
 * or takes a kept claim again.  Such a hold has the next token, in the same
 * process, or with lab_check.skipped a token soon after.  And the read side
 * that a writer takes as well has the writer's token.  The hold is as old as
 * the first hold of the claim: a wipe since then may have wiped this hold, too.
 */
#include "lab/history/ops.h"

#include <stdlib.h>

/* Is it the read side that the writer took as well? */
static bool is_beside(const struct lab_op *op, const struct lab_op *before)
{
	return op->holder == before->holder && op->token == before->token;
}

static bool follows(const struct lab_ops *o, const struct lab_op *op,
		    const struct lab_op *before)
{
	return before->token != 0 && op->token > before->token &&
	       op->token - before->token <= 1 + o->check->skipped &&
	       op->pid == before->pid && lab_op_exclusive(op) &&
	       lab_op_exclusive(before);
}

static void chain(const struct lab_ops *o, struct lab_op **ops, size_t n)
{
	const struct lab_op *before = ops[0];

	for (size_t k = 1; k < n; k++) {
		bool beside = is_beside(ops[k], before);

		if (beside || follows(o, ops[k], before))
			ops[k]->claimed = before->claimed;
		if (!beside)
			before = ops[k];
	}
}

int lab_ops_chain(struct lab_ops *o)
{
	for (size_t i = 0; i < o->nops; i++)
		o->ops[i].claimed = o->ops[i].invoked;
	for (size_t i = 0; i < o->nlocks; i++) {
		size_t n;
		struct lab_op **ops = lab_granted(o, &o->locks[i], &n);

		if (!ops)
			return -1;
		if (n > 0)
			chain(o, ops, n);
		free(ops);
	}
	return 0;
}
