/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/worker/holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/clock.h"

void lab_holds_init(struct lab_holds *h, struct lab_history *history)
{
	memset(h, 0, sizeof(*h));
	pthread_mutex_init(&h->mutex, NULL);
	h->history = history;
}

static struct lab_hold *free_slot(struct lab_holds *h)
{
	for (int i = 0; i < LAB_HOLDS; i++)
		if (!h->slots[i].hold)
			return &h->slots[i];
	fputs("worker: too many holds\n", stderr);
	abort();
}

static struct lab_hold *slot_of_op(struct lab_holds *h, uint64_t op)
{
	for (int i = 0; i < LAB_HOLDS; i++)
		if (h->slots[i].hold && h->slots[i].op == op)
			return &h->slots[i];
	return NULL;
}

/* Between a release and lab_holds_released(), another acquire may return the
 * same memory: find the hold that is not being released. */
static struct lab_hold *slot_of_hold(struct lab_holds *h,
				     const dlock_hold *hold)
{
	struct lab_hold *found = NULL;

	for (int i = 0; i < LAB_HOLDS; i++)
		if (h->slots[i].hold == hold && (!found || found->releasing))
			found = &h->slots[i];
	return found;
}

static int64_t lease_end(const struct lab_hold *s)
{
	int64_t asked = lab_now();

	return s ? lab_until(asked, dlock_remaining_ms(s->hold)) : LAB_FOREVER;
}

static void begin_acquire(struct lab_holds *h)
{
	pthread_mutex_lock(&h->mutex);
	h->acquiring++;
	pthread_mutex_unlock(&h->mutex);
}

uint64_t lab_holds_acquire(struct lab_holds *h, const char *name,
			   enum lab_mode mode, uint32_t limit,
			   int64_t timeout_ms)
{
	begin_acquire(h);
	return lab_history_acquire(h->history, name, mode, limit, timeout_ms);
}

uint64_t lab_holds_permits(struct lab_holds *h, const char *name,
			   unsigned limit, unsigned permits, int64_t timeout_ms)
{
	begin_acquire(h);
	return lab_history_permits(h->history, name, limit, permits,
				   timeout_ms);
}

uint64_t lab_holds_beside(struct lab_holds *h, const char *name,
			  enum lab_mode mode, uint64_t beside,
			  int64_t timeout_ms)
{
	begin_acquire(h);
	return lab_history_beside(h->history, name, mode, beside, timeout_ms);
}

static struct lab_hold *add_hold(struct lab_holds *h, uint64_t op,
				 dlock_hold *hold)
{
	struct lab_hold *s = slot_of_hold(h, hold);
	uint64_t token = dlock_token(hold);

	if (s && !s->op && s->token != token) {
		s->hold = NULL; /* the memory's last hold has ended */
		s = NULL;
	}
	if (!s || s->op) {
		s = free_slot(h);
		*s = (struct lab_hold){ .hold = hold, .token = token };
	}
	/* A lost member is acquired again before the multi-lock is returned. */
	if (h->multi && dlock_check(hold) == DLOCK_OK)
		s->lost = false;
	s->op = op;
	return s;
}

/* Forget the losses of holds that no acquire will return. */
static void forget_strays(struct lab_holds *h)
{
	for (int i = 0; i < LAB_HOLDS; i++)
		if (!h->slots[i].op)
			h->slots[i].hold = NULL;
}

void lab_holds_acquired(struct lab_holds *h, uint64_t op, int rc,
			dlock_hold *hold, uint64_t token)
{
	struct lab_hold *s = NULL;
	int64_t until;

	pthread_mutex_lock(&h->mutex);
	if (hold)
		s = add_hold(h, op, hold);
	until = lease_end(s);
	lab_history_acquired(h->history, op, rc, token,
			     rc == DLOCK_OK ? until : 0);
	if (s)
		s->until = until;
	if (s && s->lost)
		lab_history_lost(h->history, op);
	if (--h->acquiring == 0)
		forget_strays(h);
	pthread_mutex_unlock(&h->mutex);
}

void lab_holds_release(struct lab_holds *h, uint64_t op)
{
	struct lab_hold *s;

	pthread_mutex_lock(&h->mutex);
	s = slot_of_op(h, op);
	lab_history_release(h->history, op, lease_end(s));
	if (s)
		s->releasing = true;
	pthread_mutex_unlock(&h->mutex);
}

void lab_holds_released(struct lab_holds *h, uint64_t op, int rc)
{
	struct lab_hold *s;

	lab_history_released(h->history, op, rc);
	pthread_mutex_lock(&h->mutex);
	s = slot_of_op(h, op);
	if (s)
		s->hold = NULL;
	pthread_mutex_unlock(&h->mutex);
}

void lab_holds_watch(struct lab_holds *h)
{
	pthread_mutex_lock(&h->mutex);
	for (int i = 0; i < LAB_HOLDS; i++) {
		struct lab_hold *s = &h->slots[i];
		int64_t until;

		if (!s->hold || !s->op || s->releasing)
			continue;
		if (h->checks) {
			int64_t asked = lab_now();

			lab_history_checked(h->history, s->op, asked,
					    dlock_check(s->hold));
		}
		until = lease_end(s);
		if (until != s->until)
			lab_history_until(h->history, s->op, until);
		s->until = until;
	}
	pthread_mutex_unlock(&h->mutex);
}

void lab_holds_lost(struct lab_holds *h, dlock_hold *hold)
{
	struct lab_hold *s;

	pthread_mutex_lock(&h->mutex);
	s = slot_of_hold(h, hold);
	if (!s && h->acquiring > 0) {
		s = free_slot(h);
		*s = (struct lab_hold){ .hold = hold,
					.token = dlock_token(hold) };
	}
	if (s && s->op)
		lab_history_lost(h->history, s->op);
	if (s)
		s->lost = true;
	pthread_mutex_unlock(&h->mutex);
}
