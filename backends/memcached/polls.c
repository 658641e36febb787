/* SPDX-License-Identifier: Apache-2.0 */
#include "polls.h"

#include <stdlib.h>

#define PLACES 256

struct memc_polls {
	pthread_mutex_t mu; /* protects all; a leaf but for dlk_wake() */
	struct place {
		uint64_t name;   /* hash of a key and a mode; 0: unused */
		uint64_t asker;  /* the ticket that was told "busy" */
		uint64_t silent; /* one that relied on that, or 0 */
		dlk_time told_at;
		int looks; /* the asker's */
	} v[PLACES]; /* two names in one place cost requests, nothing else */
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

/* FNV-1a, 64 bits. */
static uint64_t name_of(const struct dlk_request *request, enum dlk_mode mode)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + (uint64_t)mode;

	for (const char *s = request->key; *s; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

static struct place *place_of(struct memc_polls *p, uint64_t name)
{
	return &p->v[(name ^ name >> 32) % PLACES];
}

int dlki_memc_polls_busy(const struct memc_ticket *t)
{
	const struct dlk_session *s = t->base.session;
	struct memc_polls *p = memc_session(t->base.session)->polls;
	uint64_t name = name_of(&t->base.request, t->base.request.mode);
	dlk_time now = dlk_now();
	struct place *at = place_of(p, name);
	int busy;

	if (t->base.last)
		return 0;
	pthread_mutex_lock(&p->mu);
	busy = at->name == name && at->asker != t->base.id &&
	       now - at->told_at < s->poll_max_ms * DLK_MS;
	if (busy)
		at->silent = t->base.id;
	pthread_mutex_unlock(&p->mu);
	return busy;
}

int dlki_memc_polls_early(int64_t poll_min_ms)
{
	int n = 0;

	while (INT64_C(1) << n < poll_min_ms)
		n++;
	return n;
}

int64_t dlki_memc_polls_pause(int looks, char digit)
{
	int64_t drawn = digit <= '9' ? digit - '0' : digit - 'a' + 10;

	return DLK_MS * (INT64_C(1) << looks) * (17 + 2 * drawn) / 32;
}

dlk_time dlki_memc_polls_told(struct memc_ticket *t)
{
	const struct memc_session *s = memc_session(t->base.session);
	struct memc_polls *p = s->polls;
	uint64_t name = name_of(&t->base.request, t->base.request.mode);
	struct place *at = place_of(p, name);
	dlk_time now = dlk_now();
	int looks = t->looks;

	pthread_mutex_lock(&p->mu);
	if (at->name != name)
		at->silent = 0;
	else if (now - at->told_at < s->base.poll_max_ms * DLK_MS &&
		 looks < at->looks)
		looks = at->looks;
	at->name = name;
	at->asker = t->base.id;
	at->told_at = now;
	at->looks = looks + (looks < s->early);
	t->looks = at->looks;
	pthread_mutex_unlock(&p->mu);
	if (looks == s->early)
		return 0;
	return now + dlki_memc_polls_pause(looks, t->base.request.owner[looks]);
}

void dlki_memc_polls_wake(const struct memc_ticket *t)
{
	struct memc_polls *p = memc_session(t->base.session)->polls;

	pthread_mutex_lock(&p->mu);
	for (int mode = DLK_EXCLUSIVE; mode <= DLK_SHARED; mode++) {
		uint64_t name = name_of(&t->base.request, (enum dlk_mode)mode);
		struct place *at = place_of(p, name);

		if (at->name != name)
			continue;
		dlk_wake(t->base.session, at->asker);
		if (at->silent)
			dlk_wake(t->base.session, at->silent);
		at->name = 0;
	}
	pthread_mutex_unlock(&p->mu);
}
