/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/patience.h"

#include <dlock/backend.h>

#include "core/base/clock.h"

#define SLICE_MIN_NS (10 * DLK_MS)

static _Thread_local struct dlki_patience *mine;

void dlki_patience_begin(struct dlki_patience *p)
{
	p->slot = &mine;
	p->outer = *p->slot;
	*p->slot = p;
}

void dlki_patience_end(struct dlki_patience *p)
{
	*p->slot = p->outer;
}

const struct dlki_patience *dlki_patience_here(void)
{
	return mine;
}

int dlki_patience_cancelled(const struct dlki_patience *p)
{
	return p && (atomic_load(p->cancels) != p->seen ||
		     (p->own && atomic_load(p->own) != 0));
}

int dlki_patience_over(struct dlki_patience *p)
{
	if (p->ended == 0 && dlki_patience_cancelled(p))
		p->ended = dlk_now();
	return p->ended != 0;
}

void dlki_patience_answer(const struct dlki_patience *p)
{
	uint64_t now, was;

	if (!p->answered)
		return;
	now = atomic_load(p->cancels);
	was = atomic_load(p->answered);
	while (was < now &&
	       !atomic_compare_exchange_weak(p->answered, &was, now))
		continue;
}

dlk_time dlk_deadline(dlk_time deadline)
{
	dlk_time end;

	if (!mine || !dlki_patience_over(mine))
		return deadline;
	end = dlki_after_ms(mine->ended, mine->ask_ms);
	return end < deadline ? end : deadline;
}

dlk_time dlki_wait_slice(dlk_time deadline)
{
	dlk_time ns, next;

	deadline = dlk_deadline(deadline);
	if (!mine)
		return deadline;
	ns = mine->ask_ms * DLK_MS / 2;
	if (ns < SLICE_MIN_NS)
		ns = SLICE_MIN_NS;
	next = dlk_now() + ns;
	return next < deadline ? next : deadline;
}

/* ---- Rousers ------------------------------------------------------------- */

void dlki_rousers_init(struct dlki_rousers *all)
{
	pthread_mutex_init(&all->mu, NULL);
	LIST_INIT(&all->all);
}

void dlki_rousers_destroy(struct dlki_rousers *all)
{
	pthread_mutex_destroy(&all->mu);
}

void dlki_rousers_rouse(struct dlki_rousers *all)
{
	struct dlki_rouser *r;

	pthread_mutex_lock(&all->mu);
	LIST_FOREACH(r, &all->all, in_all)
		r->rouse(r);
	pthread_mutex_unlock(&all->mu);
}

void dlki_rouser_join(struct dlki_rouser *r)
{
	r->of = mine ? mine->rousers : NULL;
	if (!r->of)
		return;
	pthread_mutex_lock(&r->of->mu);
	LIST_INSERT_HEAD(&r->of->all, r, in_all);
	pthread_mutex_unlock(&r->of->mu);
}

void dlki_rouser_leave(struct dlki_rouser *r)
{
	if (!r->of)
		return;
	pthread_mutex_lock(&r->of->mu);
	LIST_REMOVE(r, in_all);
	pthread_mutex_unlock(&r->of->mu);
	r->of = NULL;
}
