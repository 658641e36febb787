/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event.h"

#include <stdio.h>

#include "core/base/container.h"
#include "core/base/error.h"
#include "core/claim.h"

#define BIT(event) (1u << (event))

static _Thread_local const struct dlki_frame *frames;

int dlki_frames_have(const struct dlki_frame *f, const struct dlock_client *c)
{
	while (f && f->client != c)
		f = f->outer;
	return f != NULL;
}

int dlki_events_here(const struct dlock_client *c)
{
	return dlki_frames_have(frames, c);
}

int dlki_event_holds_up(const dlock_hold *hold)
{
	return hold->count == 0 && hold->in_callback;
}

/* ---- The queue ----------------------------------------------------------- */

static void queue_claim(struct dlki_claim *claim)
{
	struct dlki_events *q = &claim->client->events;

	if (claim->queued || claim->undelivered || q->stop)
		return;
	claim->queued = 1;
	dlki_claim_ref(claim);
	STAILQ_INSERT_TAIL(&q->claims, claim, in_events);
	q->n++;
	if (q->by_process)
		dlki_due_tell(&claim->client->asyncs.due);
	else
		dlki_job_post(&q->delivery);
}

static void drop_first(struct dlki_events *q)
{
	struct dlki_claim *claim = STAILQ_FIRST(&q->claims);

	STAILQ_REMOVE_HEAD(&q->claims, in_events);
	q->n--;
	claim->queued = 0;
	dlki_claim_unref(claim);
}

void dlki_event_handed_out(struct dlki_claim *claim)
{
	/* The claim's hold may have been released, and passed on to a call. */
	if (claim->undelivered != DLKI_HANDING_OUT)
		return;
	claim->undelivered = DLKI_HANDED_OUT;
	if (claim->events != 0)
		queue_claim(claim);
}

void dlki_event_post(struct dlki_claim *claim, enum dlock_event event)
{
	const unsigned int risk = BIT(DLOCK_AT_RISK) | BIT(DLOCK_SAFE);
	struct dlki_events *q = &claim->client->events;

	if (!claim->client->on_event || q->stop)
		return;
	/* The program knows this state already: drop the event. */
	if (risk & BIT(event) && claim->events & risk & ~BIT(event)) {
		claim->events &= ~risk;
		return;
	}
	if (event == DLOCK_LOST)
		claim->events = 0; /* SAFE is out of date */
	claim->events |= BIT(event);
	queue_claim(claim);
}

void dlki_event_afterwards(struct dlki_claim *claim, enum dlock_event event)
{
	if (!claim->client->on_event || claim->client->events.stop)
		return;
	claim->afterwards = 1;
	claim->events = BIT(event);
	queue_claim(claim);
}

/* ---- Calling on_event ---------------------------------------------------- */

/* The next event to deliver, or -1.  A released hold gets no more events. */
static int next_event(struct dlki_claim *claim)
{
	if (claim->undelivered)
		return -1;
	if (dlki_claim_is_over(claim) && !claim->afterwards)
		claim->events = 0;
	for (int event = DLOCK_AT_RISK; event <= DLOCK_UNCONFIRMED; event++) {
		if (claim->events & BIT(event)) {
			claim->events &= ~BIT(event);
			return event;
		}
	}
	return -1;
}

/* With mu held: a callback has returned.  The callback's time does not count
 * against the time of a dlock_close(). */
static void count_callback_time(struct dlock_client *c, dlk_time begun)
{
	struct dlki_events *q = &c->events;

	if (!c->closing)
		return;
	if (begun < q->closing_since)
		begun = q->closing_since;
	q->closing_ns += dlk_now() - begun;
}

/* Is this hold told of the claim's event?  A read side is never revocable. */
static int hears(const struct dlki_claim *claim, enum dlock_event event,
		 const dlock_hold *hold)
{
	if (claim->afterwards)
		return hold == &claim->own;
	if (event == DLOCK_WANTED && hold != &claim->own)
		return 0;
	return hold->count > 0 && !dlki_claim_is_over(claim);
}

static void call_on_event(struct dlki_claim *claim, enum dlock_event event)
{
	struct dlock_client *c = claim->client;
	dlock_hold *hold[2] = { &claim->own, &claim->read };
	char why[DLKI_WHY];

	snprintf(why, sizeof(why), "%s", dlki_claim_why(claim));
	for (int i = 0; i < 2; i++) {
		dlk_time begun = dlk_now();

		if (!hears(claim, event, hold[i]))
			continue;
		hold[i]->in_callback = 1;
		c->events.calling = 1;
		pthread_mutex_unlock(&c->mu);
		c->on_event(hold[i], event, why, c->arg);
		pthread_mutex_lock(&c->mu);
		count_callback_time(c, begun);
		hold[i]->in_callback = 0;
		c->events.calling = 0;
		pthread_cond_broadcast(&c->changed);
		dlki_asyncs_rouse_releases(&c->asyncs);
	}
}

int dlki_events_call(struct dlock_client *c)
{
	struct dlki_events *q = &c->events;
	const struct dlki_frame frame = { .client = c, .outer = frames };

	while (!STAILQ_EMPTY(&q->claims) && !q->calling) {
		struct dlki_claim *claim = STAILQ_FIRST(&q->claims);
		int event = next_event(claim);

		if (event >= 0) {
			frames = &frame;
			call_on_event(claim, (enum dlock_event)event);
			frames = frame.outer;
			return 1;
		}
		drop_first(q);
	}
	return 0;
}

/* The process's thread for callbacks has come to this client. */
static int deliver(struct dlki_job *delivery)
{
	struct dlock_client *c = DLKI_CONTAINER_OF(
		delivery, struct dlock_client, events.delivery);
	struct dlki_events *q = &c->events;
	int more;

	pthread_mutex_lock(&c->mu);
	for (size_t n = q->n; n > 0 && !q->stop && !q->by_process; n--)
		dlki_events_call(c);
	more = q->n > 0 && !q->stop && !q->by_process;
	pthread_mutex_unlock(&c->mu);
	return more;
}

void dlki_events_by_process(struct dlock_client *c)
{
	struct dlki_events *q = &c->events;

	q->by_process = 1;
	while (q->calling && !dlki_events_here(c))
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
	if (q->n > 0)
		dlki_due_tell(&c->asyncs.due);
}

/* ---- Start and stop ------------------------------------------------------ */

int dlki_events_start(struct dlock_client *c, struct dlk_error *err)
{
	struct dlki_events *q = &c->events;
	int by_process, rc = 0;

	pthread_mutex_lock(&c->mu);
	STAILQ_INIT(&q->claims);
	by_process = q->by_process;
	pthread_mutex_unlock(&c->mu);
	q->delivery.run = deliver;
	q->delivery.thread = DLKI_DELIVER;
	if (c->on_event && !by_process)
		rc = dlki_job_join(&q->delivery, NULL);
	return rc == 0 ? 0 : dlki_system(err, rc, "starting a thread");
}

void dlki_events_stop(struct dlock_client *c)
{
	struct dlki_events *q = &c->events;

	pthread_mutex_lock(&c->mu);
	q->stop = 1;
	pthread_mutex_unlock(&c->mu);
	dlki_job_leave(&q->delivery);
	pthread_mutex_lock(&c->mu);
	while (q->calling)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
	while (q->n > 0)
		drop_first(q);
	pthread_mutex_unlock(&c->mu);
}
