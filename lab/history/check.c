/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/check.h"
#include "lab/base/fail.h"
#include "lab/history/ops.h"

#include <dlock/dlock.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void tally(struct lab_ops *o)
{
	struct lab_verdict *v = o->verdict;
	const struct lab_op *op;

	v->records = o->nrecords;
	v->acquires = o->nops;
	v->locks = o->nlocks;
	for (size_t i = 0; i < o->nops; i++) {
		op = &o->ops[i];
		v->granted += op->granted;
		v->unanswered += op->returned == LAB_NEVER;
		v->busy += op->rc == DLOCK_EBUSY;
		v->unreachable += op->rc == DLOCK_EUNREACHABLE;
		v->released += op->released != LAB_NEVER;
	}
}

static void check_left(struct lab_ops *o)
{
	const struct lab_record *r;

	for (size_t i = 0; i < o->nrecords; i++) {
		r = &o->records[i];
		if (r->what == LAB_LEFT && r->value)
			lab_violation(o->verdict, LAB_RULE_LEFT,
				      "%" PRId64 " things of '%s' are left",
				      r->value, r->name);
	}
}

static int check_lock(struct lab_ops *o, const struct lab_lock *lock)
{
	if (lab_check_overlap(o, lock) < 0)
		return -1;
	if (o->check->no_tokens)
		return 0;
	if (lab_check_tokens(o, lock) < 0)
		return -1;
	return lab_check_linear(o, lock);
}

static int check_all(struct lab_ops *o)
{
	if (lab_ops_build(o) < 0)
		return -1;
	tally(o);
	for (size_t i = 0; i < o->nlocks; i++)
		if (check_lock(o, &o->locks[i]) < 0)
			return -1;
	lab_check_losses(o);
	lab_check_wipes(o);
	if (!o->check->no_tokens && lab_check_writes(o) < 0)
		return -1;
	check_left(o);
	return 0;
}

int lab_check_records(const struct lab_record *records, size_t count,
		      const struct lab_check *what, struct lab_verdict *verdict)
{
	static const struct lab_check usual;
	struct lab_ops o = { .check = what ? what : &usual,
			     .verdict = verdict,
			     .records = records,
			     .nrecords = count };
	int rc;

	memset(verdict, 0, sizeof(*verdict));
	rc = check_all(&o);
	lab_ops_free(&o);
	return rc < 0 ? lab_fail("out of memory") : 0;
}

int lab_check_dir(const char *dir, const struct lab_check *what,
		  struct lab_verdict *verdict)
{
	struct lab_record *records;
	size_t count;
	int rc;

	if (lab_history_load(dir, &records, &count) < 0)
		return -1;
	rc = lab_check_records(records, count, what, verdict);
	free(records);
	return rc;
}
