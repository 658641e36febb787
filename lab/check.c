/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/check.h"
#include "lab/fail.h"
#include "lab/ops.h"

#include <dlock/dlock.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lab_rule_name(enum lab_rule rule)
{
	static const char *const names[] = {
#define X(name) #name,
		LAB_RULES(X)
#undef X
	};

	return (unsigned)rule < LAB_NRULES ? names[rule] : "?";
}

void lab_violation(struct lab_verdict *v, enum lab_rule rule,
		   const char *format, ...)
{
	va_list ap;
	size_t len;
	char *words;

	v->violations++;
	v->broken[rule]++;
	if (v->nwords == LAB_WORDS)
		return;
	words = v->words[v->nwords++];
	len = (size_t)snprintf(words, sizeof(v->words[0]),
			       "%s: ", lab_rule_name(rule));
	va_start(ap, format);
	vsnprintf(words + len, sizeof(v->words[0]) - len, format, ap);
	va_end(ap);
}

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

struct lab_op **lab_granted(const struct lab_ops *o,
			    const struct lab_lock *lock, size_t *count)
{
	struct lab_op **ops =
		malloc((lock->count + 1) * sizeof(struct lab_op *));

	*count = 0;
	for (size_t i = 0; ops && i < lock->count; i++)
		if (o->ops[lock->first + i].granted)
			ops[(*count)++] = &o->ops[lock->first + i];
	return ops;
}

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
	if (lab_check_overlap(o, lock) < 0 || lab_check_busy(o, lock) < 0)
		return -1;
	if (o->check->no_tokens)
		return 0;
	if (lab_check_tokens(o, lock) < 0)
		return -1;
	return lab_check_linear(o, lock);
}

static int check_all(struct lab_ops *o)
{
	if (lab_ops_build(o) < 0 || lab_ops_befall(o) < 0)
		return -1;
	tally(o);
	for (size_t i = 0; i < o->nlocks; i++)
		if (check_lock(o, &o->locks[i]) < 0)
			return -1;
	if (lab_check_losses(o) < 0 || lab_check_wipes(o) < 0 ||
	    (!o->check->no_tokens && lab_check_writes(o) < 0))
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

void lab_verdict_print(const struct lab_verdict *v, char *out, size_t size)
{
	size_t len;

	len = (size_t)snprintf(
		out, size,
		"%" PRIu64 " acquires of %" PRIu64 " locks: %" PRIu64
		" granted, %" PRIu64 " busy, %" PRIu64 " unreachable, %" PRIu64
		" unanswered; %" PRIu64 " released, %" PRIu64
		" lost (latest %.3f ms), %" PRIu64
		" wiped (found after %.3f ms)"
		", %" PRIu64 " empty; writes: %" PRIu64 " accepted, %" PRIu64
		" refused; %" PRIu64 " stray busy\n%" PRIu64 " violations\n",
		v->acquires, v->locks, v->granted, v->busy, v->unreachable,
		v->unanswered, v->released, v->lost, (double)v->late_ns / 1e6,
		v->wiped,
		v->found_ns == LAB_UNTOLD ? 0.0 : (double)v->found_ns / 1e6,
		v->empty, v->accepted, v->refused, v->stray_busy,
		v->violations);
	for (size_t i = 0; i < v->nwords && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "  %s\n",
					v->words[i]);
}
