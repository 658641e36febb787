/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/history/ops.h"

#define SLACK_NS (50 * LAB_MS)

static int64_t slack(const struct lab_ops *o)
{
	return o->check->slack_ns ? o->check->slack_ns : SLACK_NS;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

/* Return how long the process ran from the end of the lease to `at`; < 0: `at`
 * is earlier. */
static int64_t late_by(const struct lab_ops *o, const struct lab_op *op,
		       int64_t at)
{
	if (at <= op->until)
		return at - op->until;
	return lab_awake_for(o, op->pid, op->until, at);
}

/* A release of a multi-lock renews a member until the member's turn comes, and
 * no record tells the new end. */
static void lateness(struct lab_ops *o, const struct lab_op *op)
{
	int64_t late;

	if (op->until == LAB_FOREVER || op->release <= op->until)
		return;
	late = late_by(o, op, op->lost);
	if (late > o->verdict->late_ns)
		o->verdict->late_ns = late;
	if (late <= slack(o))
		return;
	o->verdict->late++;
	lab_violation(o->verdict, LAB_RULE_LOST,
		      "%s was lost, and told so %.3f ms too late",
		      lab_op_text(o, op), ms(late));
}

static void check_lost(struct lab_ops *o, const struct lab_op *op)
{
	o->verdict->lost++;
	if (op->lost_count > 1)
		lab_violation(o->verdict, LAB_RULE_LOST, "%s was lost %u times",
			      lab_op_text(o, op), op->lost_count);
	if (op->lost > op->released)
		lab_violation(o->verdict, LAB_RULE_LOST,
			      "%s was lost after its release",
			      lab_op_text(o, op));
	if (op->said_ok > op->lost)
		lab_violation(o->verdict, LAB_RULE_LOST,
			      "%s was lost, and checked as if it were not",
			      lab_op_text(o, op));
	lateness(o, op);
}

/* Check a hold without LOST: no release that found the lease over, and no good
 * check, may come long after the end of the lease. */
static void check_silent(struct lab_ops *o, const struct lab_op *op)
{
	int64_t seen = op->was_over > op->said_ok ? op->was_over : op->said_ok;
	int64_t late;

	if (op->until == LAB_FOREVER || !seen)
		return;
	late = late_by(o, op, seen);
	if (late <= slack(o))
		return;
	o->verdict->late++;
	lab_violation(o->verdict, LAB_RULE_LOST,
		      "the lease of %s was over for %.3f ms, and it was never "
		      "lost",
		      lab_op_text(o, op), ms(late));
}

void lab_check_losses(struct lab_ops *o)
{
	const struct lab_op *op;

	o->verdict->late_ns = INT64_MIN;
	for (size_t i = 0; i < o->nops; i++) {
		op = &o->ops[i];
		if (!op->granted)
			continue;
		if (op->lost_count)
			check_lost(o, op);
		else
			check_silent(o, op);
	}
	if (o->verdict->late_ns == INT64_MIN)
		o->verdict->late_ns = 0;
}

static void check_found(struct lab_ops *o, const struct lab_op *op,
			const struct lab_span *w)
{
	int64_t given_up = lab_op_given_up(op);
	int64_t found = LAB_UNTOLD;
	int64_t due;

	o->verdict->wiped++;
	if (op->lost != LAB_NEVER)
		found = op->lost > w->end ?
				lab_awake_for(o, op->pid, w->end, op->lost) :
				0;
	if (found > o->verdict->found_ns)
		o->verdict->found_ns = found;
	if (!o->check->found_ns)
		return;
	due = lab_awake(o, op->pid, w->end, o->check->found_ns);
	if (given_up <= due)
		return;
	o->verdict->late++;
	lab_violation(o->verdict, LAB_RULE_LOST,
		      "%s was wiped from the store at %.6f, and held on to for "
		      "%.3f ms more than may be",
		      lab_op_text(o, op), (double)w->begin / 1e9,
		      ms(given_up - due));
}

void lab_check_wipes(struct lab_ops *o)
{
	const struct lab_span *w;
	const struct lab_op *op;

	o->verdict->found_ns = LAB_UNTOLD;
	for (size_t i = 0; i < o->nops && o->nwipes; i++) {
		op = &o->ops[i];
		w = op->granted ? lab_op_surely_wiped(o, op) : NULL;
		if (w)
			check_found(o, op, w);
	}
}
