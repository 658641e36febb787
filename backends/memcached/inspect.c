/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporting the holders of a lock, and breaking it.
 *
 * Items are copied first, and reported when the connection is back in its pool.
 * The server cannot list its keys, so there is no list.
 */
#include <stdlib.h>

#include "clock.h"
#include "sweep.h"

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

int dlki_memc_inspect(struct dlk_session *s, const struct dlk_request *request,
		      void (*each)(const struct dlock_participant *p,
				   void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct found all = { .request = request };
	int rc = dlki_memc_with(memc_session(s), copy_items, &all, deadline,
				err);

	for (size_t i = 0; rc == 0 && i < all.n; i++) {
		char id[16];
		struct dlock_participant p = dlki_memc_item_show(
			&all.v[i].item, all.v[i].slot, all.n == 1, id);

		each(&p, arg);
	}
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
