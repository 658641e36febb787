/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/ops.h"
#include "lab/base/fail.h"
#include "lab/history/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Tables to look operations up in while records are read. */
struct build {
	struct lab_ops *o;
	struct lab_table by_id;   /* operation's id -> place in ops */
	struct lab_table by_name; /* hash of name and kind -> place in locks */
	size_t locks_room;
};

static uint8_t kind_of(uint8_t mode)
{
	return mode == LAB_PERMIT ? mode : (uint8_t)LAB_MUTEX;
}

static uint64_t name_key(const char *name, uint8_t kind)
{
	/* FNV-1a, 64 bits: a collision in a test is less likely than a flipped
	 * bit. */
	uint64_t key = (UINT64_C(14695981039346656037) ^ kind) *
		       UINT64_C(1099511628211);

	while (*name)
		key = (key ^ (unsigned char)*name++) * UINT64_C(1099511628211);
	return key;
}

static int find_lock(struct build *b, const struct lab_record *r,
		     uint32_t *found)
{
	struct lab_ops *o = b->o;
	uint8_t kind = kind_of(r->mode);
	uint64_t key = name_key(r->name, kind);
	size_t *place = lab_table_at(&b->by_name, key);
	struct lab_lock *locks;

	if (!place)
		return -1;
	if (*place == LAB_NOWHERE) {
		if (o->nlocks == b->locks_room) {
			b->locks_room = 2 * b->locks_room + 16;
			locks = realloc(o->locks,
					b->locks_room * sizeof(*locks));
			if (!locks)
				return -1;
			o->locks = locks;
		}
		memset(&o->locks[o->nlocks], 0, sizeof(*o->locks));
		memcpy(o->locks[o->nlocks].name, r->name, sizeof(r->name));
		o->locks[o->nlocks].kind = kind;
		*place = o->nlocks++;
	}
	*found = (uint32_t)*place;
	o->locks[*place].count++;
	return 0;
}

static int begin_op(struct build *b, const struct lab_record *r)
{
	size_t *place = lab_table_at(&b->by_id, r->op);
	struct lab_op *op;

	if (!place)
		return -1;
	if (*place != LAB_NOWHERE) {
		lab_violation(b->o->verdict, LAB_RULE_SHAPE,
			      "two acquires are number %" PRIx64, r->op);
		return 0;
	}
	*place = b->o->nops++;
	op = &b->o->ops[*place];
	memset(op, 0, sizeof(*op));
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
	return find_lock(b, r, &op->lock);
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

static void add_to(struct build *b, struct lab_op *op,
		   const struct lab_record *r)
{
	if (r->what == LAB_ACQUIRED) {
		acquired(b->o, op, r);
		return;
	}
	if (!op->granted) {
		shape(b->o, r, "of a lock that was not granted");
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
		release(b->o, op, r);
		break;
	case LAB_RELEASED:
		released(b->o, op, r);
		break;
	default:
		break;
	}
}

static int add_record(struct build *b, const struct lab_record *r)
{
	size_t *place;

	if (r->what < LAB_ACQUIRE || r->what > LAB_NOTE ||
	    r->mode > LAB_PERMIT) {
		shape(b->o, r, "no such record");
		return 0;
	}
	if (r->what == LAB_ACQUIRE)
		return begin_op(b, r);
	if (r->what > LAB_RELEASED)
		return 0;
	place = lab_table_find(&b->by_id, r->op);
	if (!place)
		shape(b->o, r, "of no acquire");
	else
		add_to(b, &b->o->ops[*place], r);
	return 0;
}

/* Find the hold that a hold is beside. */
static void stand_beside(struct build *b, const struct lab_record *r)
{
	const size_t *base = lab_table_find(&b->by_id, r->token);
	const size_t *own = lab_table_find(&b->by_id, r->op);
	struct lab_op *ops = b->o->ops;

	if (!base || !own)
		return;
	ops[*own].holder = ops[*base].holder;
	ops[*own].paired = ops[*base].paired = true;
}

static int by_lock(const void *a, const void *b)
{
	const struct lab_op *x = a;
	const struct lab_op *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->invoked > y->invoked) - (x->invoked < y->invoked);
}

static void sort(struct lab_ops *o)
{
	size_t first = 0;

	qsort(o->ops, o->nops, sizeof(*o->ops), by_lock);
	for (size_t i = 0; i < o->nlocks; i++) {
		o->locks[i].first = first;
		first += o->locks[i].count;
	}
}

int lab_ops_build(struct lab_ops *o)
{
	struct build b = { .o = o };
	size_t acquires = 0;
	int rc = 0;

	for (size_t i = 0; i < o->nrecords; i++)
		acquires += o->records[i].what == LAB_ACQUIRE;
	o->ops = malloc((acquires + 1) * sizeof(*o->ops));
	if (!o->ops || lab_table_init(&b.by_id, acquires) < 0 ||
	    lab_table_init(&b.by_name, 64) < 0)
		rc = -1;
	for (size_t i = 0; i < o->nrecords && !rc; i++)
		rc = add_record(&b, &o->records[i]);
	for (size_t i = 0; i < o->nrecords && !rc; i++)
		if (o->records[i].what == LAB_ACQUIRE && o->records[i].token)
			stand_beside(&b, &o->records[i]);
	lab_table_free(&b.by_id);
	lab_table_free(&b.by_name);
	if (rc)
		return lab_fail("out of memory");
	sort(o);
	return lab_ops_chain(o) < 0 ? -1 : lab_ops_apply_faults(o);
}

void lab_ops_free(struct lab_ops *o)
{
	free(o->ops);
	free(o->locks);
	free(o->wipes);
	free(o->pauses);
	free(o->deaths);
}
