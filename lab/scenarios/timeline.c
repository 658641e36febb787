/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/ops.h"
#include "lab/scenarios/trial.h"

#include <stdlib.h>

#define MARGIN_MS 300 /* shown before and after */
#define MOST 256      /* holds; more cannot be seen anyway */

struct hold {
	const struct lab_op *op;
	size_t participant;
	int64_t end;      /* of the belief */
	int64_t given_up; /* LAB_NEVER: only the lease has ended the hold */
	const char *how;
};

struct drawing {
	struct lab_trial *trial;
	struct lab_timeline *line;
	struct hold holds[MOST]; /* in the order of grants */
	size_t n;
	struct lab_verdict unused;
};

static double ms_of(const struct drawing *d, int64_t at)
{
	return (double)(at - d->trial->fault_from) / 1e6;
}

static bool is_shared(const struct lab_op *op)
{
	return op->mode == LAB_READ || op->mode == LAB_PERMIT;
}

static int by_grant(const void *a, const void *b)
{
	const struct lab_op *x = a;
	const struct lab_op *y = b;

	if (x->returned != y->returned)
		return x->returned < y->returned ? -1 : 1;
	return (x->lock > y->lock) - (x->lock < y->lock);
}

static int by_end(const void *a, const void *b)
{
	const struct hold *x = a;
	const struct hold *y = b;

	if (x->given_up != y->given_up)
		return x->given_up < y->given_up ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static void add_hold(struct drawing *d, const struct lab_op *op, int64_t last)
{
	const char *label = lab_worker_of(d->trial, op->tid);
	struct hold *h = &d->holds[d->n++];

	h->op = op;
	h->participant = lab_timeline_participant(d->trial->findings, d->line,
						  label ? label : "?");
	h->given_up = op->lost;
	h->how = "LOST";
	if (op->release < h->given_up) {
		h->given_up = op->release;
		h->how = "released";
	}
	if (op->killed < h->given_up) {
		h->given_up = op->killed;
		h->how = "killed";
	}
	h->end = lab_op_given_up(op);
	if (h->end > last)
		h->end = last;
	if (h->end < op->returned)
		h->end = op->returned;
}

/* Draw an overlap of two conflicting holds in red. */
static void add_overlap(struct drawing *d, const struct hold *a,
			const struct hold *b)
{
	int64_t from = a->op->returned > b->op->returned ? a->op->returned :
							   b->op->returned;
	int64_t to = a->end < b->end ? a->end : b->end;

	if (from >= to || (is_shared(a->op) && is_shared(b->op)) ||
	    a->op->lock != b->op->lock)
		return;
	if ((double)(to - from) / 1e6 > d->trial->overlap_ms)
		d->trial->overlap_ms = (double)(to - from) / 1e6;
	lab_timeline_overlap(d->trial->findings, d->line, ms_of(d, from),
			     ms_of(d, to));
}

static void draw_beliefs(struct drawing *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct hold *h = &d->holds[i];
		struct lab_belief b = { h->participant,
					ms_of(d, h->op->returned),
					ms_of(d, h->end), h->op->token,
					is_shared(h->op) };

		/* A hold from before the fault is not drawn. */
		if (b.to < d->line->from)
			continue;
		lab_timeline_belief(d->trial->findings, d->line, b);
		for (size_t j = 0; j < i; j++)
			add_overlap(d, h, &d->holds[j]);
	}
}

/* The first loss after the fault tells how long A took to find out. */
static void draw_marks(struct drawing *d)
{
	struct lab_trial *t = d->trial;

	qsort(d->holds, d->n, sizeof(d->holds[0]), by_end);
	for (size_t i = 0; i < d->n; i++) {
		const struct hold *h = &d->holds[i];

		if (h->given_up == LAB_NEVER)
			break;
		if (h->given_up == h->op->lost && t->found_ms < 0 &&
		    h->given_up >= t->fault_from)
			t->found_ms = (h->given_up - t->fault_from) / LAB_MS;
		lab_timeline_mark(t->findings, d->line, h->participant,
				  ms_of(d, h->given_up), h->how);
	}
}

static void lay_out(struct drawing *d, struct lab_ops *o)
{
	int64_t last = d->trial->fault_to;

	for (size_t i = 0; i < o->nrecords; i++)
		if (o->records[i].at > last)
			last = o->records[i].at;
	d->line->fault = d->trial->fault;
	if (d->trial->fault_to)
		d->line->fault_to = ms_of(d, d->trial->fault_to);
	d->line->from = -MARGIN_MS;
	d->line->to = ms_of(d, last) + MARGIN_MS;
	qsort(o->ops, o->nops, sizeof(*o->ops), by_grant);
	for (size_t i = 0; i < o->nops && d->n < MOST; i++)
		if (o->ops[i].granted)
			add_hold(d, &o->ops[i], last);
	draw_beliefs(d);
	draw_marks(d);
}

void lab_timeline_draw(struct lab_trial *t, const struct lab_record *records,
		       size_t n)
{
	struct drawing *d = t->fault_from ? calloc(1, sizeof(*d)) : NULL;
	struct lab_ops o = { .check = &t->check,
			     .records = records,
			     .nrecords = n };

	if (!d)
		return;
	d->trial = t;
	o.verdict = &d->unused;
	if (lab_ops_build(&o) == 0) {
		pthread_mutex_lock(t->mutex);
		d->line = lab_findings_timeline(t->findings, t->store, t->row);
		if (d->line)
			lay_out(d, &o);
		pthread_mutex_unlock(t->mutex);
	}
	lab_ops_free(&o);
	free(d);
}
