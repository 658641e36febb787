/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/ops.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct lab_op *x = *(struct lab_op *const *)a;
	const struct lab_op *y = *(struct lab_op *const *)b;

	return (x->returned > y->returned) - (x->returned < y->returned);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The holds begun so far that reach furthest; and the ends of all shared holds,
 * for counting. */
struct sweep {
	const struct lab_ops *o;
	const struct lab_op *exclusive;
	const struct lab_op *shared;
	int64_t *ends; /* sorted */
	size_t ended;
	size_t begun;
};

static bool report_overlaps(struct sweep *s, const struct lab_op *op,
			    const struct lab_op *before)
{
	if (!before || before->end <= op->returned)
		return false;
	lab_violation(s->o->verdict, LAB_RULE_OVERLAP,
		      "%s was granted while %s was promised",
		      lab_op_text(s->o, op), lab_op_text(s->o, before));
	return true;
}

static void count_permits(struct sweep *s, const struct lab_op *op)
{
	size_t held;

	while (s->ends[s->ended] <= op->returned && s->ended < s->begun)
		s->ended++;
	held = s->begun - s->ended;
	if (held >= op->limit)
		lab_violation(s->o->verdict, LAB_RULE_OVERLAP,
			      "%s was granted while all %u permits were held",
			      lab_op_text(s->o, op), op->limit);
	else if (held && s->shared->limit != op->limit)
		lab_violation(
			s->o->verdict, LAB_RULE_OVERLAP,
			"%s and %s disagree on how many permits there are",
			lab_op_text(s->o, op), lab_op_text(s->o, s->shared));
}

static const struct lab_op *further(const struct lab_op *a,
				    const struct lab_op *b)
{
	return a && a->end >= b->end ? a : b;
}

static void begin_hold(struct sweep *s, const struct lab_op *op)
{
	bool exclusive = op->mode == LAB_MUTEX || op->mode == LAB_WRITE;

	if (!report_overlaps(s, op, s->exclusive) && exclusive)
		report_overlaps(s, op, s->shared);
	if (op->mode == LAB_PERMIT)
		count_permits(s, op);
	if (exclusive) {
		s->exclusive = further(s->exclusive, op);
	} else {
		s->shared = further(s->shared, op);
		s->begun++;
	}
}

int lab_check_overlap(struct lab_ops *o, const struct lab_lock *lock)
{
	struct sweep s = { .o = o };
	size_t n;
	size_t kept = 0;
	size_t shared = 0;
	struct lab_op **ops = lab_granted(o, lock, &n);

	s.ends = malloc((n + 1) * sizeof(*s.ends));
	if (!ops || !s.ends) {
		free(ops);
		free(s.ends);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		if (ops[i]->end <= ops[i]->returned) {
			o->verdict->empty++;
			continue;
		}
		if (ops[i]->mode == LAB_READ || ops[i]->mode == LAB_PERMIT)
			s.ends[shared++] = ops[i]->end;
		ops[kept++] = ops[i];
	}
	qsort(ops, kept, sizeof(struct lab_op *), by_start);
	qsort(s.ends, shared, sizeof(*s.ends), by_value);
	for (size_t i = 0; i < kept; i++)
		begin_hold(&s, ops[i]);
	free(ops);
	free(s.ends);
	return 0;
}
