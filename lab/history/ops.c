/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint8_t kind_of(const struct lab_record *r)
{
	return r->mode == LAB_PERMIT ? r->mode : (uint8_t)LAB_MUTEX;
}

/* By number; of two with the same, the earlier record first. */
static int by_id(const void *a, const void *b)
{
	const struct lab_op *x = a;
	const struct lab_op *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->asked > y->asked) - (x->asked < y->asked);
}

static int same_lock(const struct lab_op *x, const struct lab_op *y)
{
	if (kind_of(x->asked) != kind_of(y->asked))
		return kind_of(x->asked) - kind_of(y->asked);
	return strcmp(x->asked->name, y->asked->name);
}

static int by_lock(const void *a, const void *b)
{
	const struct lab_op *x = a;
	const struct lab_op *y = b;
	int names = same_lock(x, y);

	return names ? names :
		       (x->invoked > y->invoked) - (x->invoked < y->invoked);
}

/* Return the operation that `id` is the number of; the operations are sorted by
 * number. */
static struct lab_op *find_op(const struct lab_ops *o, uint64_t id)
{
	size_t lo = 0;
	size_t hi = o->nops;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->ops[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < o->nops && o->ops[lo].id == id ? &o->ops[lo] : NULL;
}

static bool is_known(const struct lab_record *r)
{
	return r->what >= LAB_ACQUIRE && r->what <= LAB_NOTE &&
	       r->mode <= LAB_PERMIT;
}

static void begin_op(struct lab_ops *o, const struct lab_record *r)
{
	struct lab_op *op = &o->ops[o->nops++];

	memset(op, 0, sizeof(*op));
	op->asked = r;
	op->id = r->op;
	op->pid = r->pid;
	op->tid = r->tid;
	op->mode = r->mode;
	op->limit = r->limit;
	op->permits = r->rc > 1 ? (uint32_t)r->rc : 1;
	op->holder = r->op;
	op->invoked = r->at;
	op->returned = op->until = op->lost = LAB_NEVER;
	op->release = op->released = op->killed = LAB_NEVER;
}

/* Begin an operation for each acquire; of two with the same number, the first
 * counts. */
static int begin_ops(struct lab_ops *o)
{
	size_t acquires = 0;
	size_t n = 0;

	for (size_t i = 0; i < o->nrecords; i++)
		acquires += o->records[i].what == LAB_ACQUIRE;
	o->ops = malloc((acquires + 1) * sizeof(*o->ops));
	if (!o->ops)
		return -1;
	for (size_t i = 0; i < o->nrecords; i++)
		if (o->records[i].what == LAB_ACQUIRE &&
		    is_known(&o->records[i]))
			begin_op(o, &o->records[i]);
	qsort(o->ops, o->nops, sizeof(*o->ops), by_id);
	for (size_t i = 0; i < o->nops; i++)
		if (n == 0 || o->ops[i].id != o->ops[n - 1].id)
			o->ops[n++] = o->ops[i];
		else
			lab_violation(o->verdict, LAB_RULE_SHAPE,
				      "two acquires are number %" PRIx64,
				      o->ops[i].id);
	o->nops = n;
	return 0;
}

static void shape(struct lab_ops *o, const struct lab_record *r,
		  const char *what)
{
	char text[256];

	lab_record_print(r, text, sizeof(text));
	lab_violation(o->verdict, LAB_RULE_SHAPE, "%s: %s", what, text);
}

static void acquired(struct lab_ops *o, struct lab_op *op,
		     const struct lab_record *r)
{
	if (op->returned != LAB_NEVER) {
		shape(o, r, "an acquire returned twice");
		return;
	}
	if (r->at < op->invoked)
		shape(o, r, "an acquire returned before it was called");
	op->returned = r->at;
	op->rc = r->rc;
	op->granted = r->rc == 0;
	if (op->granted) {
		op->token = r->token;
		op->until = r->until ? r->until : r->at;
	}
}

/* Note the lease as told at r->at: a lease that is over by then may have ended
 * at any time before. */
static void know_until(struct lab_op *op, const struct lab_record *r)
{
	if (r->until)
		op->until = r->until;
	else if (r->at < op->until)
		op->until = r->at;
}

static void release(struct lab_ops *o, struct lab_op *op,
		    const struct lab_record *r)
{
	if (op->release != LAB_NEVER) {
		shape(o, r, "a hold was released twice");
		return;
	}
	op->release = r->at;
	op->was_over = r->until ? 0 : r->at;
	/* A lost hold has no lease to tell of. */
	if (op->lost == LAB_NEVER)
		know_until(op, r);
}

static void released(struct lab_ops *o, struct lab_op *op,
		     const struct lab_record *r)
{
	if (op->release == LAB_NEVER || op->released != LAB_NEVER) {
		shape(o, r, "a release returned that was not called");
		return;
	}
	op->released = r->at;
	op->release_rc = r->rc;
}

static void lost(struct lab_op *op, const struct lab_record *r)
{
	op->lost_count++;
	if (r->at < op->lost)
		op->lost = r->at;
}

static void add_to(struct lab_ops *o, struct lab_op *op,
		   const struct lab_record *r)
{
	if (r->what == LAB_ACQUIRED) {
		acquired(o, op, r);
		return;
	}
	if (!op->granted) {
		shape(o, r, "of a lock that was not granted");
		return;
	}
	switch (r->what) {
	case LAB_UNTIL:
		if (op->lost == LAB_NEVER && op->release == LAB_NEVER)
			know_until(op, r);
		break;
	case LAB_CHECKED:
		if (r->rc == 0 && r->at > op->said_ok)
			op->said_ok = r->at;
		break;
	case LAB_LOST:
		lost(op, r);
		break;
	case LAB_RELEASE:
		release(o, op, r);
		break;
	case LAB_RELEASED:
		released(o, op, r);
		break;
	default:
		break;
	}
}

static void add_record(struct lab_ops *o, const struct lab_record *r)
{
	struct lab_op *op;

	if (!is_known(r)) {
		shape(o, r, "no such record");
		return;
	}
	if (r->what == LAB_ACQUIRE || r->what > LAB_RELEASED)
		return;
	op = find_op(o, r->op);
	if (op && op->asked < r)
		add_to(o, op, r);
	else
		shape(o, r, "of no acquire");
}

/* Find the hold that a hold is beside. */
static void stand_beside(struct lab_ops *o, const struct lab_record *r)
{
	struct lab_op *base = find_op(o, r->token);
	struct lab_op *own = find_op(o, r->op);

	if (!base || !own)
		return;
	own->holder = base->holder;
	own->paired = base->paired = true;
}

/* Sort the operations by lock, and list the locks. */
static int list_locks(struct lab_ops *o)
{
	qsort(o->ops, o->nops, sizeof(*o->ops), by_lock);
	o->locks = calloc(o->nops + 1, sizeof(*o->locks));
	if (!o->locks)
		return -1;
	for (size_t i = 0; i < o->nops; i++) {
		struct lab_op *op = &o->ops[i];

		if (i == 0 || same_lock(op, op - 1) != 0)
			o->locks[o->nlocks++] = (struct lab_lock){
				.name = op->asked->name, .first = i
			};
		op->lock = (uint32_t)o->nlocks - 1;
		o->locks[op->lock].count++;
	}
	return 0;
}

int lab_ops_build(struct lab_ops *o)
{
	if (begin_ops(o) < 0)
		return -1;
	for (size_t i = 0; i < o->nrecords; i++)
		add_record(o, &o->records[i]);
	for (size_t i = 0; i < o->nrecords; i++)
		if (o->records[i].what == LAB_ACQUIRE && o->records[i].token)
			stand_beside(o, &o->records[i]);
	if (list_locks(o) < 0 || lab_ops_chain(o) < 0)
		return -1;
	return lab_ops_apply_faults(o);
}

void lab_ops_free(struct lab_ops *o)
{
	free(o->ops);
	free(o->locks);
	free(o->wipes);
	free(o->pauses);
	free(o->deaths);
}
