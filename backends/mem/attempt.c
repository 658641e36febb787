/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include <time.h>

#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"

static uint64_t last_token; /* under dlki_mem_mu */

/* Larger than every token before it. */
static uint64_t next_token(void)
{
	struct timespec ts;
	uint64_t us;

	clock_gettime(CLOCK_REALTIME, &ts);
	us = (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
	last_token = us > last_token ? us : last_token + 1;
	return last_token;
}

static void grant(const struct mem_session *s, struct mem_ticket *t)
{
	t->granted = 1;
	t->token = next_token();
	t->until = mem_lease_end(s);
	t->lose_at = s->lose_ms > 0 ? dlk_now() + s->lose_ms * DLK_MS :
				      DLK_FOREVER;
}

/* When the first of the leases ahead of `t` ends.  No wake announces that. */
static dlk_time first_expiry(const struct mem_ticket *t)
{
	dlk_time first = DLK_FOREVER;

	for (const struct mem_ticket *ahead = t->queue->first; ahead != t;
	     ahead = ahead->next) {
		if (ahead->granted && ahead->until < first)
			first = ahead->until;
	}
	return first;
}

static enum dlk_verdict attempt_locked(const struct mem_session *s,
				       struct mem_ticket *t,
				       struct dlk_error *err)
{
	int turn;

	if (t->queue)
		dlki_mem_expire(t->queue, dlk_now());
	if (!t->queue && dlki_mem_enqueue(t, err) != 0)
		return DLK_FAILED;
	turn = t->granted ? 1 : dlki_mem_is_turn(t, err);
	if (turn < 0)
		return DLK_FAILED;
	if (turn && !t->granted)
		grant(s, t);
	if (t->granted) {
		t->base.token = t->token;
		return DLK_GRANTED;
	}
	if (first_expiry(t) != DLK_FOREVER)
		t->base.look_again = first_expiry(t);
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
