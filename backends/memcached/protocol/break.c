/* SPDX-License-Identifier: Apache-2.0 */
/* Breaking: first see the tokens, then remove all items up to the last token.
 * Items of later holders, whose tokens are larger, stay. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/memcached/protocol/store.h"

static void note_token(struct memc_store *s, struct memc_job *job,
		       const struct memc_op *op)
{
	(void)s;
	if (op->answer != MEMC_MISSING && op->slot != MEMC_MARK &&
	    op->item.token > job->last)
		job->last = op->item.token;
}

static void tokens_seen(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	if (op->about)
		snprintf(op->about, DLKI_ABOUT, "%" PRIu64, job->last);
	dlki_memc_sweep(s, job, op);
}

void dlki_memc_store_break(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job = dlki_memc_job_new(s, op);

	if (!job)
		return;
	job->each = note_token;
	job->swept = dlki_memc_end_done;
	if (op->about && op->about[0]) {
		job->last = (uint64_t)strtoll(op->about, NULL, 10);
		dlki_memc_sweep(s, job, op);
	} else {
		dlki_memc_job_survey_all(s, job, op, tokens_seen);
	}
}
