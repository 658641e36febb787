/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"
#include "backends/mem/token.h"
#include "backends/mem/wanted.h"

static void grant(const struct mem_session *s, struct mem_ticket *t)
{
	t->granted = 1;
	t->token = dlki_mem_token_next(t->queue, t->base.since);
	t->until = mem_lease_end(s);
	dlki_mem_note_end(t->queue, t->until);
	t->lose_at = s->lose_ms > 0 ? dlk_now() + s->lose_ms * DLK_MS :
				      DLK_FOREVER;
}

/* Return when the first lease in the queue may end, which comes without a wake.
 * A waiter ahead may be granted at once, and never release. */
static dlk_time first_expiry(const struct mem_queue *queue)
{
	dlk_time first = queue->ends;

	if (queue->ttl_ms > 0) {
		dlk_time end = dlk_now() + queue->ttl_ms * DLK_MS;

		if (end < first)
			first = end;
	}
	return first;
}

static enum dlk_verdict attempt_locked(const struct mem_session *s,
				       struct mem_ticket *t,
				       struct dlk_error *err)
{
	dlk_time expiry;

	if (t->queue)
		dlki_mem_expire(t->queue, dlk_now());
	if (!t->queue && dlki_mem_enqueue(t, err) != 0)
		return DLK_FAILED;
	if (dlki_mem_wants_too_many(t)) {
		dlk_fail(err, DLOCK_EINVAL,
			 "semaphore '%s' has only %u permits, not %u",
			 t->base.request.name, (unsigned int)t->queue->limit,
			 (unsigned int)t->base.request.permits);
		dlki_mem_dequeue(t);
		return DLK_FAILED;
	}
	if (!t->granted && dlki_mem_is_turn(t))
		grant(s, t);
	if (t->granted) {
		t->base.token = t->token;
		return DLK_GRANTED;
	}
	dlki_mem_tell_wanted(t);
	expiry = first_expiry(t->queue);
	if (expiry != DLK_FOREVER)
		t->base.look_again = expiry;
	return DLK_BUSY;
}

enum dlk_verdict dlki_mem_attempt(struct dlk_ticket *base, dlk_time deadline,
				  struct dlk_error *err)
{
	struct mem_session *s = mem_session(base->session);
	enum dlk_verdict verdict;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return DLK_FAILED;
	pthread_mutex_lock(&dlki_mem_mu);
	verdict = attempt_locked(s, mem_ticket(base), err);
	pthread_mutex_unlock(&dlki_mem_mu);
	return verdict;
}
