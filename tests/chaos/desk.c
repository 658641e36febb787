/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/clock.h"

void chaos_desk_init(struct chaos_desk *d, struct lab_history *history)
{
	memset(d, 0, sizeof(*d));
	pthread_mutex_init(&d->lock, NULL);
	d->history = history;
}

static struct chaos_place *free_place(struct chaos_desk *d)
{
	for (int i = 0; i < CHAOS_PLACES; i++)
		if (!d->places[i].hold)
			return &d->places[i];
	fputs("chaos: more holds than places\n", stderr);
	abort();
}

static struct chaos_place *of_op(struct chaos_desk *d, uint64_t op)
{
	for (int i = 0; i < CHAOS_PLACES; i++)
		if (d->places[i].hold && d->places[i].op == op)
			return &d->places[i];
	fputs("chaos: no such hold\n", stderr);
	abort();
}

/* The memory of a hold that was released may be another's already, before its
 * former owner has come to say that it left: the one that stays is meant. */
static struct chaos_place *of_hold(struct chaos_desk *d, const dlock_hold *hold)
{
	struct chaos_place *found = NULL;

	for (int i = 0; i < CHAOS_PLACES; i++)
		if (d->places[i].hold == hold && (!found || found->leaving))
			found = &d->places[i];
	return found;
}

void chaos_desk_enter(struct chaos_desk *d, dlock_hold *hold, uint64_t op)
{
	struct chaos_place *p;

	pthread_mutex_lock(&d->lock);
	p = of_hold(d, hold);
	if (p && !p->op) {
		lab_history_lost(d->history, op);
		p->op = op;
	} else {
		p = free_place(d);
		*p = (struct chaos_place){ .hold = hold, .op = op };
	}
	pthread_mutex_unlock(&d->lock);
}

void chaos_desk_leave(struct chaos_desk *d, uint64_t op)
{
	pthread_mutex_lock(&d->lock);
	of_op(d, op)->leaving = 1;
	pthread_mutex_unlock(&d->lock);
}

void chaos_desk_left(struct chaos_desk *d, uint64_t op)
{
	pthread_mutex_lock(&d->lock);
	of_op(d, op)->hold = NULL;
	pthread_mutex_unlock(&d->lock);
}

void chaos_desk_sample(struct chaos_desk *d)
{
	struct chaos_place *p;
	int64_t asked;

	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < CHAOS_PLACES; i++) {
		p = &d->places[i];
		if (!p->hold || p->lost || p->leaving)
			continue;
		asked = lab_now();
		lab_history_until(d->history, p->op,
				  lab_until(asked,
					    dlock_remaining_ms(p->hold)));
	}
	pthread_mutex_unlock(&d->lock);
}

void chaos_desk_lost(struct chaos_desk *d, dlock_hold *hold)
{
	struct chaos_place *p;

	pthread_mutex_lock(&d->lock);
	p = of_hold(d, hold);
	if (p) {
		lab_history_lost(d->history, p->op);
		p->lost = 1;
	} else {
		*free_place(d) = (struct chaos_place){ .hold = hold,
						       .lost = 1 };
	}
	pthread_mutex_unlock(&d->lock);
}
