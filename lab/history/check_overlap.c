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

/* Of the holds begun so far, the hold that reaches furthest, and the furthest
 * of another holder. */
struct reach {
	const struct lab_op *first;
	const struct lab_op *other;
};

/* ... and the ends of all shared holds, a permit each, for counting. */
struct sweep {
	const struct lab_ops *o;
	struct reach exclusive;
	struct reach shared;
	int64_t *ends; /* sorted */
	size_t ended;
	size_t begun;
};

static void overlap(struct sweep *s, const struct lab_op *op)
{
	s->o->verdict->overlaps[op->mode]++;
}

static bool report_overlaps(struct sweep *s, const struct lab_op *op,
			    const struct reach *r)
{
	const struct lab_op *before = r->first;

	if (before && before->holder == op->holder)
		before = r->other;
	if (!before || before->end <= op->returned)
		return false;
	overlap(s, op);
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
	if (held + op->permits > op->limit)
		lab_violation(s->o->verdict, LAB_RULE_OVERLAP,
			      "%s was granted %u permits while %zu of %u were "
			      "held",
			      lab_op_text(s->o, op), op->permits, held,
			      op->limit);
	else if (held && s->shared.first->limit != op->limit)
		lab_violation(
			s->o->verdict, LAB_RULE_OVERLAP,
			"%s and %s disagree on how many permits there are",
			lab_op_text(s->o, op),
			lab_op_text(s->o, s->shared.first));
	else
		return;
	overlap(s, op);
}

static void reach_further(struct reach *r, const struct lab_op *op)
{
	const struct lab_op *second = r->first;

	if (!r->first || op->end > r->first->end) {
		r->first = op;
		if (second && second->holder != op->holder)
			r->other = second;
	} else if (op->holder != r->first->holder &&
		   (!r->other || op->end > r->other->end)) {
		r->other = op;
	}
}

static bool is_exclusive(const struct lab_op *op)
{
	return op->mode == LAB_MUTEX || op->mode == LAB_WRITE;
}

static void begin_hold(struct sweep *s, const struct lab_op *op)
{
	bool exclusive = is_exclusive(op);

	if (!report_overlaps(s, op, &s->exclusive) && exclusive)
		report_overlaps(s, op, &s->shared);
	if (op->mode == LAB_PERMIT)
		count_permits(s, op);
	if (exclusive) {
		reach_further(&s->exclusive, op);
	} else {
		reach_further(&s->shared, op);
		s->begun += op->permits;
	}
}

static size_t count_all_permits(struct lab_op *const *ops, size_t n)
{
	size_t permits = 0;

	for (size_t i = 0; i < n; i++)
		permits += ops[i]->permits;
	return permits;
}

int lab_check_overlap(struct lab_ops *o, const struct lab_lock *lock)
{
	struct sweep s = { .o = o };
	size_t n = 0;
	size_t kept = 0;
	size_t shared = 0;
	struct lab_op **ops = lab_granted(o, lock, &n);

	if (ops)
		s.ends = malloc((count_all_permits(ops, n) + 1) *
				sizeof(*s.ends));
	if (!s.ends) {
		free(ops);
		free(s.ends);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		if (ops[i]->end <= ops[i]->returned) {
			o->verdict->empty++;
			continue;
		}
		for (uint32_t k = 0;
		     k < ops[i]->permits && !is_exclusive(ops[i]); k++)
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
