/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event.h"

#include <string.h>

#include "core/claim.h"
#include "core/base/error.h"

#define BIT(event) (1u << (event))

void dlki_event_post(struct dlki_claim *claim, enum dlock_event event)
{
	struct dlki_events *q = &claim->client->events;

	if (!q->running)
		return;
	/* The state is what was delivered last: deliver nothing. */
	if (event != DLOCK_LOST &&
	    claim->events & (BIT(DLOCK_AT_RISK) | BIT(DLOCK_SAFE)) &
		    ~BIT(event)) {
		claim->events &= ~(BIT(DLOCK_AT_RISK) | BIT(DLOCK_SAFE));
		return;
	}
	if (event == DLOCK_LOST)
		claim->events = 0; /* whether it was safe is out of date */
	claim->events |= BIT(event);
	if (claim->queued)
		return;
	claim->queued = 1;
	claim->event_next = NULL;
	dlki_claim_ref(claim);
	*q->last = claim;
	q->last = &claim->event_next;
	pthread_cond_signal(&q->more);
}

/* The next event to deliver, or -1.  A hold that the user has released gets no
 * more events. */
static int next_event(struct dlki_claim *claim)
{
	if (claim->state == DLKI_OVER)
		claim->events = 0;
	for (int event = DLOCK_AT_RISK; event <= DLOCK_LOST; event++) {
		if (claim->events & BIT(event)) {
			claim->events &= ~BIT(event);
			return event;
		}
	}
	return -1;
}

/* With mu held: a callback has returned.  Its time does not count against the
 * time of a dlock_close(). */
static void count_callback_time(struct dlock_client *c, dlk_time begun)
{
	struct dlki_events *q = &c->events;

	if (!c->closing)
		return;
	if (begun < q->closing_since)
		begun = q->closing_since;
	q->closing_ns += dlk_now() - begun;
}

static void call_on_event(struct dlki_claim *claim, enum dlock_event event)
{
	struct dlock_client *c = claim->client;
	dlock_hold *hold[2] = { &claim->own, &claim->read };
	char why[sizeof(claim->why)];

	memcpy(why, claim->why, sizeof(why));
	for (int i = 0; i < 2; i++) {
		dlk_time begun = dlk_now();

		if (hold[i]->count == 0 || claim->state == DLKI_OVER)
			continue;
		claim->in_callback = hold[i];
		pthread_mutex_unlock(&c->mu);
		c->on_event(hold[i], event, why, c->arg);
		pthread_mutex_lock(&c->mu);
		count_callback_time(c, begun);
		claim->in_callback = NULL;
		pthread_cond_broadcast(&c->changed);
	}
}

static void *dispatcher_main(void *arg)
{
	struct dlock_client *c = arg;
	struct dlki_events *q = &c->events;

	pthread_mutex_lock(&c->mu);
	for (;;) {
		struct dlki_claim *claim = q->first;
		int event;

		if (q->stop)
			break;
		if (!claim) {
			pthread_cond_wait(&q->more, &c->mu);
			continue;
		}
		event = next_event(claim);
		if (event >= 0) {
			call_on_event(claim, (enum dlock_event)event);
			continue;
		}
		q->first = claim->event_next;
		if (!q->first)
			q->last = &q->first;
		claim->queued = 0;
		dlki_claim_unref(claim);
	}
	pthread_mutex_unlock(&c->mu);
	return NULL;
}

int dlki_events_start(struct dlock_client *c, struct dlk_error *err)
{
	struct dlki_events *q = &c->events;
	int rc;

	q->last = &q->first;
	if (!c->on_event)
		return 0;
	pthread_cond_init(&q->more, NULL);
	q->running = 1;
	rc = dlk_thread(&q->thread, "dlock-events", dispatcher_main, c);
	if (rc == 0)
		return 0;
	q->running = 0;
	pthread_cond_destroy(&q->more);
	return dlki_system(err, rc, "starting a thread");
}

void dlki_events_stop(struct dlock_client *c)
{
	struct dlki_events *q = &c->events;

	if (!q->running)
		return;
	pthread_mutex_lock(&c->mu);
	q->stop = 1;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&c->mu);
	pthread_join(q->thread, NULL);
	pthread_mutex_lock(&c->mu);
	q->running = 0;
	while (q->first) {
		struct dlki_claim *claim = q->first;

		q->first = claim->event_next;
		claim->queued = 0;
		dlki_claim_unref(claim);
	}
	pthread_mutex_unlock(&c->mu);
	pthread_cond_destroy(&q->more);
}

int dlki_events_here(const struct dlock_client *c)
{
	return c->events.running &&
	       pthread_equal(c->events.thread, pthread_self());
}
