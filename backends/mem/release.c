/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"
#include "backends/mem/token.h"

int dlki_mem_release(struct dlk_ticket *base, dlk_time deadline,
		     struct dlk_error *err)
{
	struct mem_ticket *t = mem_ticket(base);

	if (dlki_mem_rehearse(mem_session(base->session), deadline, err) != 0)
		return err->code;
	pthread_mutex_lock(&dlki_mem_mu);
	if (t->queue && t->granted && base->token_used != 0)
		dlki_mem_token_return(t->queue, base->token_used);
	else if (t->queue && t->watched)
		dlki_mem_token_return(t->queue, t->token);
	if (t->queue)
		dlki_mem_dequeue(t);
	pthread_mutex_unlock(&dlki_mem_mu);
	return 0;
}

int dlki_mem_downgrade(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err)
{
	struct mem_ticket *t = mem_ticket(base);
	int rc = dlki_mem_rehearse(mem_session(base->session), deadline, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&dlki_mem_mu);
	if (t->queue) {
		t->base.request.mode = DLK_SHARED;
		dlki_mem_wake(t->queue);
	} else {
		rc = dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	}
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
}
