/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporting the holders of a lock.  An owner at the gate is a waiter if there
 * are readers, so no item is reported before all are known.
 *
 * A reader with a larger token came after the owner at the gate, and has not
 * found that owner yet: the reader gives the slot back, and waits.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/memcached/protocol/limit.h"
#include "backends/memcached/protocol/store.h"
#include "core/base/error.h"

static void copy_item(struct memc_store *s, struct memc_job *job,
		      const struct memc_op *op)
{
	size_t room = job->found_room > 0 ? 2 * job->found_room : 4;
	void *v;

	(void)s;
	if (op->answer == MEMC_MISSING)
		return;
	if (op->slot == MEMC_MARK) {
		job->limit = dlki_memc_mark_limit(op);
		return;
	}
	if (job->n_found == job->found_room) {
		v = realloc(job->found, room * sizeof(*job->found));
		if (!v) {
			dlki_nomem(&job->error);
			return;
		}
		job->found = v;
		job->found_room = room;
	}
	job->found[job->n_found++] = (struct memc_found){
		.slot = op->slot,
		.item = op->item,
	};
}

static int is_late(const struct memc_job *job, size_t at)
{
	const struct memc_item *gate = &job->found[0].item;

	return gate->owner[0] && job->found[at].item.token > gate->token;
}

static int waits(const struct memc_job *job, const struct dlki_op *op,
		 size_t at)
{
	size_t i = 1;

	if (op->request->kind != DLK_LOCK || job->found[0].slot != MEMC_GATE)
		return job->found[at].slot == MEMC_GATE;
	if (at > 0)
		return is_late(job, at);
	while (i < job->n_found && is_late(job, i))
		i++;
	return i < job->n_found && job->found[0].item.limit != MEMC_HAS;
}

/* Add the permits of the same holder to the first of these; 0: item `at` is
 * not the first. */
static int add_permits(const struct memc_job *job, const struct dlki_op *op,
		       size_t at, struct dlock_participant *p)
{
	const struct memc_found *all = job->found;

	if (op->request->kind != DLK_SEMAPHORE || !all[at].item.owner[0])
		return 1;
	for (size_t i = 0; i < job->n_found; i++) {
		if (i == at || strcmp(all[i].item.owner, all[at].item.owner))
			continue;
		if (all[at].slot == MEMC_GATE ||
		    (i < at && all[i].slot != MEMC_GATE))
			return 0;
		if (all[i].slot == MEMC_GATE)
			continue;
		p->permits = (p->permits ? p->permits : 1) + 1;
		if (p->token < all[i].item.token)
			p->token = all[i].item.token;
	}
	return 1;
}

static void report(struct memc_store *s, struct memc_job *job,
		   struct dlki_op *op)
{
	(void)s;
	for (size_t i = 0; i < job->n_found; i++) {
		char id[16];
		struct dlock_participant p = dlki_memc_item_show(
			&job->found[i].item, op->request, job->found[i].slot,
			waits(job, op, i), id);

		if (dlki_memc_limit_is_set(job->limit))
			p.limit = job->limit;
		p.limit = dlki_memc_limit_permits(p.limit);
		if (add_permits(job, op, i, &p))
			dlki_row_participant(op, &p);
	}
	dlki_memc_end_answered(job, op, 1);
}

void dlki_memc_store_inspect(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job = dlki_memc_job_new(s, op);

	if (!job)
		return;
	job->each = copy_item;
	dlki_memc_job_survey_all(s, job, op, report);
}
