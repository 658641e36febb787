/* SPDX-License-Identifier: Apache-2.0 */
#include "mark.h"

#include <string.h>

#include "clock.h"

static int is_mark(const struct memc_op *seen)
{
	return seen->answer != MEMC_MISSING && seen->item.owner[0];
}

static int lives_for(const struct memc_conn *c, const struct memc_op *seen,
		     int64_t s)
{
	return seen->item.until_s >= dlki_memc_uptime_most_s(c) + (uint64_t)s;
}

struct memc_op dlki_memc_mark_op(const struct memc_conn *c,
				 struct memc_ticket *t,
				 const struct memc_op *seen)
{
	struct memc_op op = dlki_memc_op(MEMC_GET, &t->base.request, MEMC_MARK);

	if (seen->answer == MEMC_MISSING) {
		op.verb = MEMC_ADD;
		op.add = ++t->adds;
	} else if (!lives_for(c, seen, c->session->mark_s / 2)) {
		op.verb = MEMC_SWAP;
		op.cas = seen->item.cas;
		op.item = seen->item;
	}
	return op;
}

int dlki_memc_mark_lasts(const struct memc_conn *c, const struct memc_op *seen)
{
	return is_mark(seen) && lives_for(c, seen, c->session->exptime_s);
}

int dlki_memc_mark_differs(const struct dlk_request *request,
			   const struct memc_op *seen)
{
	return is_mark(seen) && seen->item.limit != request->limit;
}

/* ---- What a reader holds by ---------------------------------------------- */

void dlki_memc_mark_keep(struct memc_ticket *t, const struct memc_op *seen)
{
	memcpy(t->mark_owner, seen->item.owner, sizeof(t->mark_owner));
	t->mark_add = seen->item.add;
}

static int is_kept(const struct memc_ticket *t, const struct memc_op *seen)
{
	return is_mark(seen) && seen->item.add == t->mark_add &&
	       strcmp(seen->item.owner, t->mark_owner) == 0;
}

static int is_reader(const struct memc_ticket *t)
{
	return t->base.request.kind == DLK_LOCK;
}

/* A reader's that has gone is not made again: the claim has gone with it. */
static int must_store(const struct memc_conn *c, struct memc_marked *m,
		      struct memc_op *op)
{
	if (*m->verdict != DLK_RENEWED ||
	    (is_reader(m->t) && !is_kept(m->t, &m->seen)))
		return 0;
	*op = dlki_memc_mark_op(c, m->t, &m->seen);
	return op->verb != MEMC_GET;
}

int dlki_memc_marks_renew(struct memc_conn *c, struct memc_marked v[], size_t n,
			  dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_BATCH_MAX];
	size_t which[MEMC_BATCH_MAX], todo = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (must_store(c, &v[i], &ops[todo]))
			which[todo++] = i;
	}
	if (todo > 0)
		rc = dlki_memc_run(c, ops, todo, deadline, err);
	for (size_t i = 0; i < todo && rc == 0; i++)
		v[which[i]].seen = ops[i];
	return rc;
}

void dlki_memc_marks_judge(const struct memc_conn *c,
			   const struct memc_marked v[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_reader(v[i].t) || *v[i].verdict != DLK_RENEWED)
			continue;
		if (!is_kept(v[i].t, &v[i].seen))
			*v[i].verdict = DLK_GONE;
		else if (!dlki_memc_mark_lasts(c, &v[i].seen))
			*v[i].verdict = DLK_UNKNOWN;
	}
}
