/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs for people: inspect, list, resize, break.
 */
#include "backends/mem/mem.h"

#include <stdio.h>

#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"

static void report_ticket(const struct mem_ticket *t, dlk_time now,
			  void (*each)(const struct dlock_participant *p,
				       void *arg),
			  void *arg)
{
	char id[9];
	struct dlock_participant p = {
		.size = sizeof(p),
		.label = t->base.request.label,
		.id = id,
		.token = t->granted ? t->token : 0,
		.remaining_ms = -1,
		.shared = t->base.request.mode == DLK_SHARED,
		.waiting = !t->granted,
		.since_ms = t->granted ? (int64_t)(t->token / 1000) : 0,
		.permits = t->base.request.permits,
		.limit = t->queue->limit,
	};

	if ((t->granted || t->orphan) && t->until <= now)
		return;
	if (t->granted && t->until != DLK_FOREVER)
		p.remaining_ms = (t->until - now) / DLK_MS;
	snprintf(id, sizeof(id), "%.8s", t->base.request.owner);
	each(&p, arg);
}

int dlki_mem_inspect(struct dlk_session *base,
		     const struct dlk_request *request,
		     void (*each)(const struct dlock_participant *p, void *arg),
		     void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = mem_session(base);
	const struct mem_queue *queue;
	const struct mem_ticket *t;
	dlk_time now = dlk_now();

	/* The text of a message must not shift the rehearsed faults. */
	if (!request->holders_only && dlki_mem_rehearse(s, deadline, err) != 0)
		return err->code;
	pthread_mutex_lock(&dlki_mem_mu);
	queue = dlki_mem_find(s, request);
	if (queue)
		TAILQ_FOREACH(t, &queue->tickets, entry)
			report_ticket(t, now, each, arg);
	pthread_mutex_unlock(&dlki_mem_mu);
	return 0;
}

int dlki_mem_list(struct dlk_session *base,
		  void (*each)(const struct dlock_lock_info *e, void *arg),
		  void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = mem_session(base);

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return err->code;
	pthread_mutex_lock(&dlki_mem_mu);
	dlki_mem_each(s, each, arg);
	pthread_mutex_unlock(&dlki_mem_mu);
	return 0;
}

int dlki_mem_resize(struct dlk_session *base, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = mem_session(base);
	struct mem_queue *queue;
	int rc = dlki_mem_rehearse(s, deadline, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&dlki_mem_mu);
	queue = dlki_mem_find(s, request);
	if (queue)
		dlki_mem_expire(queue, dlk_now());
	if (queue && !TAILQ_EMPTY(&queue->tickets)) {
		queue->limit = request->limit;
		queue->is_set = 1;
		dlki_mem_wake(queue);
	} else {
		rc = DLOCK_EINVAL;
	}
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
}

int dlki_mem_break(struct dlk_session *base, const struct dlk_request *request,
		   dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = mem_session(base);
	struct mem_queue *queue;
	struct mem_ticket *t, *next;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return err->code;
	pthread_mutex_lock(&dlki_mem_mu);
	queue = dlki_mem_find(s, request);
	for (t = queue ? TAILQ_FIRST(&queue->tickets) : NULL; t; t = next) {
		next = TAILQ_NEXT(t, entry);
		if (!t->granted)
			continue;
		if (!t->orphan)
			dlk_lost(t->base.session, t->base.id,
				 "an operator broke the lock");
		dlki_mem_dequeue(t);
	}
	pthread_mutex_unlock(&dlki_mem_mu);
	return 0;
}
