/* SPDX-License-Identifier: Apache-2.0 */
#include "polls.h"

#include <stdlib.h>

struct memc_polls {
	pthread_mutex_t mu; /* protects all; a leaf but for dlk_wake() */
	struct memc_looks looks;
};

struct memc_polls *dlki_memc_polls_new(void)
{
	struct memc_polls *p = calloc(1, sizeof(*p));

	if (p)
		pthread_mutex_init(&p->mu, NULL);
	return p;
}

void dlki_memc_polls_free(struct memc_polls *p)
{
	pthread_mutex_destroy(&p->mu);
	free(p);
}

int dlki_memc_polls_busy(const struct memc_ticket *t)
{
	const struct dlk_session *s = t->base.session;
	struct memc_polls *p = memc_session(t->base.session)->polls;
	int busy;

	if (t->base.last)
		return 0;
	pthread_mutex_lock(&p->mu);
	busy = dlki_memc_looks_busy(&p->looks, &t->base.request, t->base.id,
				    t->base.id, s->poll_max_ms, dlk_now());
	pthread_mutex_unlock(&p->mu);
	return busy;
}

dlk_time dlki_memc_polls_told(struct memc_ticket *t)
{
	const struct memc_session *s = memc_session(t->base.session);
	dlk_time now = dlk_now(), pause;

	pthread_mutex_lock(&s->polls->mu);
	pause = dlki_memc_looks_told(&s->polls->looks, &t->base.request,
				     t->base.id, t->base.id, &t->claim.looks,
				     s->early, s->base.poll_max_ms, now);
	pthread_mutex_unlock(&s->polls->mu);
	return pause == 0 ? 0 : now + pause;
}

static void wake(void *session, uint64_t id)
{
	dlk_wake(session, id);
}

void dlki_memc_polls_wake(const struct memc_ticket *t)
{
	struct memc_polls *p = memc_session(t->base.session)->polls;

	pthread_mutex_lock(&p->mu);
	dlki_memc_looks_wake(&p->looks, &t->base.request, wake,
			     t->base.session);
	pthread_mutex_unlock(&p->mu);
}
