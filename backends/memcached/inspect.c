/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporting the holders of a lock, and breaking it.
 *
 * Items are copied first, and reported when the connection is back in its pool.
 * The server cannot list its keys, so there is no list.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "sweep.h"

#define ID_LEN 12 /* of the owner; all of it would be a key to the lock */

/* ---- Inspect ------------------------------------------------------------- */

struct found {
	const struct dlk_request *request;
	size_t n, size;
	struct {
		int slot;
		struct memc_item item;
	} * v;
};

static int copy_item(struct memc_op *op, void *arg)
{
	struct found *all = arg;

	if (op->answer == MEMC_MISSING)
		return 0;
	if (all->n == all->size) {
		size_t size = all->size ? 2 * all->size : 4;
		void *v = realloc(all->v, size * sizeof(*all->v));

		if (!v)
			return DLOCK_ENOMEM;
		all->v = v;
		all->size = size;
	}
	all->v[all->n].slot = op->slot;
	all->v[all->n++].item = op->item;
	return 0;
}

static int copy_items(struct memc_conn *c, void *arg, dlk_time deadline,
		      struct dlk_error *err)
{
	struct found *all = arg;
	int rc;

	all->n = 0;
	rc = dlki_memc_confirm(c, deadline, err);
	if (rc != 0)
		return rc;
	rc = dlki_memc_survey(c, all->request, MEMC_GATE,
			      dlki_memc_slots(all->request), copy_item, all,
			      deadline, err);
	if (rc == DLOCK_ENOMEM)
		return dlk_fail(err, rc, "out of memory");
	return rc;
}

/* An item lives longer than the lease; the holder relies on the lease. */
static int64_t remaining_ms(const struct memc_item *item)
{
	if (item->left_s < 0)
		return -1;
	return item->left_s > MEMC_MORE_S ?
		       (item->left_s - MEMC_MORE_S) * 1000 :
		       0;
}

/* An owner at the gate while slots are taken waits for them to come free. */
static void report_item(const struct found *all, size_t i,
			void (*each)(const struct dlock_participant *p,
				     void *arg),
			void *arg)
{
	const struct memc_item *item = &all->v[i].item;
	int gate = all->v[i].slot == MEMC_GATE;
	char id[16];
	struct dlock_participant p = {
		.size = sizeof(p),
		.label = item->label,
		.id = id,
		.shared = !gate,
		.waiting = gate && all->n > 1,
		.remaining_ms = remaining_ms(item),
	};

	if (item->owner[0])
		snprintf(id, sizeof(id), "%.*s", ID_LEN, item->owner);
	else
		snprintf(id, sizeof(id), "?%d", all->v[i].slot);
	if (!p.waiting)
		p.token = item->token;
	each(&p, arg);
}

int dlki_memc_inspect(struct dlk_session *s, const struct dlk_request *request,
		      void (*each)(const struct dlock_participant *p,
				   void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct found all = { .request = request };
	int rc = dlki_memc_with(memc_session(s), copy_items, &all, deadline,
				err);

	for (size_t i = 0; rc == 0 && i < all.n; i++)
		report_item(&all, i, each, arg);
	free(all.v);
	return rc;
}

/* ---- Break --------------------------------------------------------------- */

struct breaking {
	const struct dlk_request *request;
	uint64_t last; /* the largest token that was there at first */
	int known;
};

static int note_token(struct memc_op *op, void *arg)
{
	struct breaking *b = arg;

	if (op->answer != MEMC_MISSING && op->item.token > b->last)
		b->last = op->item.token;
	return 0;
}

/* Done again if an answer was lost; others may have come by then, and stay. */
static int break_on(struct memc_conn *c, void *arg, dlk_time deadline,
		    struct dlk_error *err)
{
	struct breaking *b = arg;
	struct memc_sweep w;
	int rc;

	if (!b->known) {
		b->last = 0;
		rc = dlki_memc_confirm(c, deadline, err);
		if (rc != 0)
			return rc;
		rc = dlki_memc_survey(c, b->request, MEMC_GATE,
				      dlki_memc_slots(b->request), note_token,
				      b, deadline, err);
		if (rc != 0)
			return rc;
		b->known = 1;
	}
	dlki_memc_sweep_init(&w, c, b->request, deadline, err);
	w.last = b->last;
	return dlki_memc_sweep_all(&w);
}

/* Later tokens are larger by themselves: the server's count goes on. */
int dlki_memc_break(struct dlk_session *s, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err)
{
	struct breaking b = { .request = request };

	return dlki_memc_with(memc_session(s), break_on, &b, deadline, err);
}
