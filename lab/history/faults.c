/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"
#include "lab/history/ops.h"

#include <stdlib.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int by_pid(const void *a, const void *b)
{
	const struct lab_span *x = a;
	const struct lab_span *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static size_t count_records(const struct lab_ops *o, enum lab_what what)
{
	size_t n = 0;

	for (size_t i = 0; i < o->nrecords; i++)
		n += o->records[i].what == what;
	return n;
}

/* Return the spans that begin with a record of kind `what`, sorted. */
static struct lab_span *make_spans(const struct lab_ops *o, enum lab_what what,
				   size_t *n)
{
	struct lab_span *s = calloc(count_records(o, what) + 1, sizeof(*s));
	const struct lab_record *r;

	*n = 0;
	for (size_t i = 0; i < o->nrecords && s; i++) {
		r = &o->records[i];
		if (r->what != what)
			continue;
		s[*n].begin = r->at;
		s[*n].end = LAB_NEVER;
		s[*n].pid = (uint32_t)r->value;
		if (what == LAB_WIPED) {
			s[*n].begin = r->value;
			s[*n].end = r->at;
			s[*n].pid = 0;
			s[*n].surely = r->rc;
			s[*n].name = r->name;
		}
		(*n)++;
	}
	if (s)
		qsort(s, *n, sizeof(*s), by_pid);
	return s;
}

/* The first span of `pid` that begins at `at` or later. */
static size_t first_span(const struct lab_span *s, size_t n, uint32_t pid,
			 int64_t at)
{
	struct lab_span key = { .pid = pid, .begin = at };
	size_t lo = 0;

	while (lo < n) {
		size_t mid = lo + (n - lo) / 2;

		if (by_pid(&s[mid], &key) < 0)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/* A pause ends with the first resume of the process that follows. */
static int end_pauses(struct lab_ops *o)
{
	size_t n;
	struct lab_span *resumes = make_spans(o, LAB_RESUMED, &n);
	struct lab_span *p;
	size_t at;

	if (!resumes)
		return -1;
	for (size_t i = 0; i < o->npauses; i++) {
		p = &o->pauses[i];
		at = first_span(resumes, n, p->pid, p->begin);
		if (at < n && resumes[at].pid == p->pid)
			p->end = resumes[at].begin;
	}
	free(resumes);
	return 0;
}

int64_t lab_awake(const struct lab_ops *o, uint32_t pid, int64_t from,
		  int64_t ns)
{
	size_t i = first_span(o->pauses, o->npauses, pid, from);
	const struct lab_span *p;

	/* The pause before may last until then, and others may follow. */
	if (i > 0)
		i--;
	for (; i < o->npauses && o->pauses[i].pid <= pid; i++) {
		p = &o->pauses[i];
		if (p->pid < pid || p->end <= from)
			continue;
		if (p->begin - from > ns)
			break;
		if (p->end == LAB_NEVER)
			return LAB_NEVER;
		if (p->begin > from)
			ns -= p->begin - from;
		from = p->end;
	}
	return from + ns;
}

int64_t lab_awake_for(const struct lab_ops *o, uint32_t pid, int64_t from,
		      int64_t to)
{
	int64_t ns = to - from;

	for (size_t i = 0; i < o->npauses && o->pauses[i].pid <= pid; i++) {
		const struct lab_span *p = &o->pauses[i];
		int64_t begin = p->begin > from ? p->begin : from;

		if (p->pid == pid && begin < least(p->end, to))
			ns -= least(p->end, to) - begin;
	}
	return ns;
}

int64_t lab_op_given_up(const struct lab_op *op)
{
	return least(least(op->until, op->lost),
		     least(op->release, op->killed));
}

bool lab_op_exclusive(const struct lab_op *op)
{
	return op->mode == LAB_MUTEX || op->mode == LAB_WRITE ||
	       (op->mode == LAB_PERMIT && op->limit == 1);
}

/* Return the first wipe of the lock's name, from the place `from` to the end of
 * the hold.  Wipes are done in turn, so they are ordered by beginning and by
 * end alike. */
static const struct lab_span *wipe_of(const struct lab_ops *o,
				      const struct lab_op *op, size_t from,
				      bool surely)
{
	int64_t given_up = lab_op_given_up(op);
	const struct lab_span *w;

	for (; from < o->nwipes; from++) {
		w = &o->wipes[from];
		if (w->begin >= given_up)
			return NULL;
		if (surely && !w->surely)
			continue;
		if (!*w->name || strcmp(w->name, o->locks[op->lock].name) == 0)
			return w;
	}
	return NULL;
}

/* Return the place of the first wipe that ends at `at` or later. */
static size_t first_wipe_end(const struct lab_ops *o, int64_t at)
{
	size_t lo = 0;
	size_t hi = o->nwipes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->wipes[mid].end < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Return the first wipe that may have hit the operation, or NULL. */
static const struct lab_span *first_wipe(const struct lab_ops *o,
					 const struct lab_op *op)
{
	return wipe_of(o, op, first_wipe_end(o, op->invoked), false);
}

/* Return the first wipe that may have hit the claim before the hold was asked
 * for.  The client renews a wiped claim no more: after a lease, which is three
 * times as long as a renewal may take to find the wipe, no hold comes of the
 * claim. */
static const struct lab_span *wipe_of_claim(const struct lab_ops *o,
					    const struct lab_op *op)
{
	size_t at = first_wipe_end(o, op->claimed);
	int64_t found_ns = o->check->found_ns;
	const struct lab_span *w;

	for (; (w = wipe_of(o, op, at, false));
	     at = (size_t)(w - o->wipes) + 1) {
		if (w->end >= op->invoked)
			return NULL;
		if (!found_ns ||
		    op->invoked <= lab_awake(o, op->pid, w->end, 3 * found_ns))
			return w;
	}
	return NULL;
}

const struct lab_span *lab_op_surely_wiped(const struct lab_ops *o,
					   const struct lab_op *op)
{
	size_t next;

	if (op->returned == LAB_NEVER)
		return NULL;
	next = first_span(o->wipes, o->nwipes, 0, op->returned + 1);
	return wipe_of(o, op, next, true);
}

static int64_t kill_of(const struct lab_ops *o, const struct lab_op *op)
{
	size_t i = first_span(o->deaths, o->ndeaths, op->pid, op->invoked);

	if (i < o->ndeaths && o->deaths[i].pid == op->pid)
		return o->deaths[i].begin;
	return LAB_NEVER;
}

static void apply_faults(struct lab_ops *o, struct lab_op *op)
{
	const struct lab_span *w;

	op->killed = kill_of(o, op);
	op->end = lab_op_given_up(op);
	if (!op->granted)
		return;
	op->stale = wipe_of_claim(o, op) != NULL;
	w = first_wipe(o, op);
	/* The grant may be older than the wipe: then the promise ends with the
	 * wipe. */
	if (w)
		op->end = w->begin > op->invoked ? w->begin : op->invoked;
	if (op->stale)
		op->end = op->invoked;
}

int lab_ops_apply_faults(struct lab_ops *o)
{
	o->wipes = make_spans(o, LAB_WIPED, &o->nwipes);
	o->pauses = make_spans(o, LAB_PAUSED, &o->npauses);
	o->deaths = make_spans(o, LAB_KILLED, &o->ndeaths);
	if (!o->wipes || !o->pauses || !o->deaths || end_pauses(o) < 0)
		return lab_fail("out of memory");
	for (size_t i = 0; i < o->nops; i++)
		apply_faults(o, &o->ops[i]);
	return 0;
}
