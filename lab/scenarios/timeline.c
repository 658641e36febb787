/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/trial.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN_MS 300 /* shown before and after */
#define MOST 256      /* holds; more cannot be seen anyway */

struct belief {
	uint64_t op;
	const struct lab_record *asked; /* which lock, and how; or NULL */
	struct lab_belief drawn;
	uint32_t pid;
	int64_t from, end;
	bool open; /* only the lease has ended the hold */
};

struct drawing {
	struct lab_trial *trial;
	struct lab_timeline *line;
	struct belief beliefs[MOST];
	size_t n;
	const struct lab_record **sorted;
	size_t n_records;
};

static int by_time(const void *a, const void *b)
{
	const struct lab_record *x = *(const struct lab_record *const *)a;
	const struct lab_record *y = *(const struct lab_record *const *)b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x > y) - (x < y);
}

static double ms_of(const struct drawing *d, int64_t at)
{
	return (double)(at - d->trial->fault_from) / 1e6;
}

static struct belief *belief_of(struct drawing *d, uint64_t op)
{
	for (size_t i = d->n; i-- > 0;)
		if (d->beliefs[i].op == op)
			return &d->beliefs[i];
	return NULL;
}

static const struct lab_record *acquire_of(const struct drawing *d, uint64_t op)
{
	for (size_t i = 0; i < d->n_records; i++)
		if (d->sorted[i]->op == op && d->sorted[i]->what == LAB_ACQUIRE)
			return d->sorted[i];
	return NULL;
}

static bool is_shared(const struct lab_record *asked)
{
	return asked && (asked->mode == LAB_READ || asked->mode == LAB_PERMIT);
}

/* Return the end of a lease as a record tells it; a lease that is over ended by
 * then. */
static int64_t end_of(const struct belief *b, const struct lab_record *r)
{
	int64_t end = r->until ? r->until : r->at < b->end ? r->at : b->end;

	return end < b->from ? b->from : end;
}

static void belief_begins(struct drawing *d, const struct lab_record *r)
{
	const char *label = lab_worker_of(d->trial, r->tid);
	struct belief *b;

	if (d->n == MOST || r->rc != 0)
		return;
	b = &d->beliefs[d->n++];
	b->op = r->op;
	b->asked = acquire_of(d, r->op);
	b->pid = r->pid;
	b->from = b->end = r->at;
	b->end = end_of(b, r);
	b->open = true;
	b->drawn.participant = lab_timeline_participant(
		d->trial->findings, d->line, label ? label : "?");
	b->drawn.token = r->token;
	b->drawn.shared = is_shared(b->asked);
}

static void belief_ends(struct drawing *d, struct belief *b, int64_t at,
			const char *text)
{
	if (!b || !b->open)
		return;
	b->open = false;
	if (at < b->end)
		b->end = at;
	if (text)
		lab_timeline_mark(d->trial->findings, d->line,
				  b->drawn.participant, ms_of(d, at), text);
}

static void beliefs_end(struct drawing *d, const struct lab_record *r)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->beliefs[i].pid == (uint32_t)r->value &&
		    d->beliefs[i].from <= r->at)
			belief_ends(d, &d->beliefs[i], r->at, "killed");
}

/* Note the first loss after the fault: A took so long to find out. */
static void belief_lost(struct drawing *d, struct belief *b, int64_t at)
{
	struct lab_trial *t = d->trial;

	if (b && b->open && at >= t->fault_from && t->found_ms < 0)
		t->found_ms = (at - t->fault_from) / LAB_MS;
	belief_ends(d, b, at, "LOST");
}

static void take_record(struct drawing *d, const struct lab_record *r)
{
	struct belief *b = r->op ? belief_of(d, r->op) : NULL;

	switch (r->what) {
	case LAB_ACQUIRED:
		belief_begins(d, r);
		break;
	case LAB_UNTIL:
		if (b && b->open)
			b->end = end_of(b, r);
		break;
	case LAB_LOST:
		belief_lost(d, b, r->at);
		break;
	case LAB_RELEASE:
		belief_ends(d, b, r->at, "released");
		break;
	case LAB_KILLED:
		beliefs_end(d, r);
		break;
	default:
		break;
	}
}

/* A lock and a semaphore of one name never meet. */
static bool same_lock(const struct belief *a, const struct belief *b)
{
	return a->asked && b->asked &&
	       (a->asked->mode == LAB_PERMIT) ==
		       (b->asked->mode == LAB_PERMIT) &&
	       strcmp(a->asked->name, b->asked->name) == 0;
}

/* Draw an overlap of two conflicting holds in red. */
static void add_overlap(struct drawing *d, const struct belief *a,
			const struct belief *b)
{
	int64_t from = a->from > b->from ? a->from : b->from;
	int64_t to = a->end < b->end ? a->end : b->end;

	if (from >= to || (a->drawn.shared && b->drawn.shared) ||
	    !same_lock(a, b))
		return;
	if ((double)(to - from) / 1e6 > d->trial->overlap_ms)
		d->trial->overlap_ms = (double)(to - from) / 1e6;
	lab_timeline_overlap(d->trial->findings, d->line, ms_of(d, from),
			     ms_of(d, to));
}

static void lay_out(struct drawing *d, int64_t last)
{
	struct lab_timeline *t = d->line;

	t->fault = d->trial->fault;
	if (d->trial->fault_to)
		t->fault_to = ms_of(d, d->trial->fault_to);
	t->from = -MARGIN_MS;
	t->to = ms_of(d, last) + MARGIN_MS;
	for (size_t i = 0; i < d->n; i++) {
		struct belief *b = &d->beliefs[i];

		if (b->end > last)
			b->end = last;
		b->drawn.from = ms_of(d, b->from);
		b->drawn.to = ms_of(d, b->end);
		/* A hold from before the fault is not drawn. */
		if (b->drawn.to < t->from)
			continue;
		lab_timeline_belief(d->trial->findings, t, b->drawn);
		for (size_t j = 0; j < i; j++)
			add_overlap(d, b, &d->beliefs[j]);
	}
}

static int64_t take_records(struct drawing *d, int64_t last)
{
	for (size_t i = 0; i < d->n_records; i++) {
		take_record(d, d->sorted[i]);
		if (d->sorted[i]->at > last)
			last = d->sorted[i]->at;
	}
	return last;
}

void lab_timeline_draw(struct lab_trial *t, const struct lab_record *records,
		       size_t n)
{
	struct drawing *d = t->fault_from ? calloc(1, sizeof(*d)) : NULL;

	if (!d)
		return;
	d->trial = t;
	d->sorted = calloc(n + 1, sizeof(*d->sorted));
	for (size_t i = 0; d->sorted && i < n; i++)
		d->sorted[d->n_records++] = &records[i];
	if (d->sorted)
		qsort(d->sorted, n, sizeof(*d->sorted), by_time);
	pthread_mutex_lock(t->mutex);
	d->line = lab_findings_timeline(t->findings, t->store, t->row);
	if (d->line)
		lay_out(d, take_records(d, t->fault_to));
	pthread_mutex_unlock(t->mutex);
	free(d->sorted);
	free(d);
}
