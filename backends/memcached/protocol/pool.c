/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of a fleet's server.
 *
 * A server in another pool grants no claim: a greeting asks for the pool's
 * digest, and so does each grant of a fleet, as another client may have stored
 * a digest since.
 */
#include <assert.h>
#include <string.h>

#include "backends/memcached/pool/digest.h"
#include "backends/memcached/protocol/store.h"

void dlki_memc_job_check_pool(const struct memc_store *s, struct memc_job *job,
			      const struct dlk_request *request)
{
	const struct memc_given *given = s->base.given;

	if (!given || (!given->with_grants && job->verb != DLKI_GREET))
		return;
	assert(job->n < job->room);
	job->ops[job->n++] = dlki_memc_op(MEMC_ADD, request, MEMC_POOL);
}

/* Compare the digests.  A server without memory for the item has none. */
void dlki_memc_job_pool_told(const struct memc_store *s, struct memc_job *job,
			     const char *theirs)
{
	char difference[120], peer[DLKI_PEER];

	if (job->error.code != 0 || !theirs[0] ||
	    strcmp(theirs, s->run.digest) == 0)
		return;
	dlki_memc_digest_difference(theirs, s->run.digest, difference);
	dlki_peer(s->link, peer);
	dlk_fail(&job->error, DLOCK_EINVAL, MEMC_OTHER_POOL, peer, difference,
		 s->run.prefix);
}
