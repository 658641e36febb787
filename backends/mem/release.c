/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include "backends/mem/orphan.h"
#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"
#include "backends/mem/token.h"

/* Only until others draw tokens from beyond the range. */
static void return_tokens(struct mem_ticket *t, uint64_t used)
{
	if (t->watched && t->queue->kind == DLK_LOCK)
		dlki_mem_token_return(t->queue, used != 0 ? used : t->token);
	t->watched = 0;
}

/* `t` may be NULL, the claim being gone. */
static void give_up(struct mem_ticket *t, uint64_t used)
{
	if (!t)
		return;
	return_tokens(t, used);
	dlki_mem_dequeue(t);
}

int dlki_mem_release(struct dlk_ticket *base, dlk_time deadline,
		     struct dlk_error *err)
{
	struct mem_ticket *t = mem_ticket(base);
	int rc = dlki_mem_rehearse(mem_session(base->session), deadline, err);

	pthread_mutex_lock(&dlki_mem_mu);
	if (rc != 0 && t->queue)
		dlki_mem_orphan_leave(t);
	else if (rc == 0)
		give_up(t->queue ? t : dlki_mem_orphan_of(t), base->token_used);
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
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
		return_tokens(t, base->token_used);
		t->base.request.mode = DLK_SHARED;
		dlki_mem_wake(t->queue);
	} else {
		rc = dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	}
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
}
