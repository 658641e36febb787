/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/waiters.h"

#include <dlock/backend.h>

void dlki_waiter_init(struct dlki_waiter *w)
{
	*w = (struct dlki_waiter){ .done = 0 };
}

void dlki_waiters_init(struct dlki_waiters *all)
{
	*all = (struct dlki_waiters){ .shared = 0 };
	TAILQ_INIT(&all->all);
	for (int i = 0; i < DLKI_CONDS; i++)
		dlk_cond_init(&all->conds[i]);
}

void dlki_waiters_destroy(struct dlki_waiters *all)
{
	for (int i = 0; i < DLKI_CONDS; i++)
		pthread_cond_destroy(&all->conds[i]);
}

void dlki_waiters_wake(struct dlki_engine *e, struct dlki_waiter *w)
{
	if (w->asleep)
		e->due |= UINT64_C(1) << w->cond;
	w->asleep = 0;
}

void dlki_waiters_signal(struct dlki_waiters *all, uint64_t conds)
{
	for (unsigned int i = 0; conds != 0; i++, conds >>= 1) {
		if (conds & 1)
			pthread_cond_broadcast(&all->conds[i]);
	}
}

/* A free condition, or a condition that several threads share: each looks for
 * the change. */
static unsigned int choose_cond(struct dlki_waiters *all)
{
	for (unsigned int i = 0; i < DLKI_CONDS; i++) {
		if (all->asleep[i] == 0)
			return i;
	}
	return all->shared++ % DLKI_CONDS;
}

void dlki_waiters_sleep(struct dlki_engine *e, struct dlki_waiters *all,
			struct dlki_waiter *w, dlk_time until)
{
	uint64_t due = e->due;

	e->due = 0;
	dlki_waiters_signal(all, due);
	w->cond = choose_cond(all);
	all->asleep[w->cond]++;
	w->asleep = 1;
	dlk_cond_wait(&all->conds[w->cond], &e->mu, until);
	w->asleep = 0;
	all->asleep[w->cond]--;
}
