/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/wanted.h"

#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"
#include "backends/mem/token.h"

static void tell(const struct mem_ticket *holder)
{
	if (holder->watched && !holder->orphan)
		dlk_wanted(holder->base.session, holder->base.id);
}

void dlki_mem_tell_wanted(const struct mem_ticket *t)
{
	const struct mem_ticket *holder = TAILQ_FIRST(&t->queue->tickets);

	if (t->queue->kind == DLK_LOCK &&
	    holder->base.session != t->base.session)
		tell(holder);
}

static int others_wait(const struct mem_ticket *holder)
{
	const struct mem_ticket *t = holder;

	while ((t = TAILQ_NEXT(t, entry))) {
		if (t->base.session != holder->base.session)
			return 1;
	}
	return 0;
}

/* The holder of a permit hears of a revoke alone. */
static int watch(struct mem_ticket *t)
{
	t->watched = 1;
	if (t->queue->kind == DLK_SEMAPHORE)
		return 0;
	t->base.token_last = dlki_mem_token_reserve(t->queue, t->token);
	return others_wait(t);
}

int dlki_mem_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			  struct dlk_error *err)
{
	struct mem_session *s = mem_session(base->session);
	struct mem_ticket *t = mem_ticket(base);
	int rc = dlki_mem_rehearse(s, deadline, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&dlki_mem_mu);
	if (t->queue && t->granted)
		rc = watch(t);
	else
		rc = dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
}

int dlki_mem_revoke(struct dlk_session *base, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = mem_session(base);
	const struct mem_ticket *t;
	const struct mem_queue *q;
	int rc = dlki_mem_rehearse(s, deadline, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&dlki_mem_mu);
	q = dlki_mem_find(s, request);
	if (q)
		TAILQ_FOREACH(t, &q->tickets, entry)
			tell(t);
	pthread_mutex_unlock(&dlki_mem_mu);
	return 0;
}
