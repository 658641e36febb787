/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds: copied first, and told when the connection is back in its pool. */
#include "memcached.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/error.h"

#define ID_LEN 12 /* of the owner, whose whole would be a key to the lock */

struct seen {
	const struct dlk_claim *claim;
	size_t n, size;
	struct {
		int slot;
		struct memc_item item;
	} * v;
};

static int keep(struct memc_op *op, void *arg)
{
	struct seen *all = arg;

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

static int survey(struct memc_conn *c, void *arg, dlk_time deadline,
		  struct dlk_error *err)
{
	struct seen *all = arg;
	int rc;

	all->n = 0;
	rc = dlki_memc_survey(c, all->claim, dlki_memc_gated(all->claim), keep,
			      all, deadline, err);
	return rc == DLOCK_ENOMEM ? dlki_nomem(err) : rc;
}

/* Of a second or two more than the lease, the holder promises the lease. */
static int64_t remaining_ms(const struct memc_item *item)
{
	if (item->left_s < 0)
		return -1;
	return item->left_s > MEMC_MORE_S ?
		       (item->left_s - MEMC_MORE_S) * 1000 :
		       0;
}

/* Who is at the gate while slots are taken waits for them to come free. */
static void report(const struct seen *all, size_t i,
		   void (*each)(const struct dlock_party *p, void *arg),
		   void *arg)
{
	const struct memc_item *item = &all->v[i].item;
	int gate = all->v[i].slot == MEMC_GATE;
	char id[16];
	struct dlock_party p = {
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

int dlki_memc_inspect(struct dlk_session *s, const struct dlk_claim *claim,
		      void (*each)(const struct dlock_party *p, void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct seen all = { .claim = claim };
	int rc = dlki_memc_with(memc_session(s), survey, &all, deadline, err);

	for (size_t i = 0; rc == 0 && i < all.n; i++)
		report(&all, i, each, arg);
	free(all.v);
	return rc;
}
