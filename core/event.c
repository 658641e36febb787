/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/claim.h"
#include "core/async.h"

#define BIT(event) (1u << (event))

#define CLIENT_OF(delivery)                                                    \
	((struct dlock_client *)(void *)((char *)(delivery)-offsetof(          \
		struct dlock_client, events.delivery)))

/* The clients that this thread calls back, the innermost first. */
struct frame {
	const struct dlock_client *client;
	struct frame *outer;
};

static _Thread_local struct frame *frames;

int dlki_events_here(const struct dlock_client *c)
{
	const struct frame *f = frames;

	while (f && f->client != c)
		f = f->outer;
	return f != NULL;
}

/* ---- What is to be called ------------------------------------------------ */

/* Something was added to a queue. */
static void announce(struct dlki_events *q)
{
	q->n++;
	if (q->own_loop && q->n == 1)
		eventfd_write(q->fd, 1);
	else if (q->n == 1)
		dlki_delivery_post(&q->delivery);
}

static void queue_claim(struct dlki_claim *claim)
{
	struct dlki_events *q = &claim->client->events;

	if (claim->queued || claim->undelivered)
		return;
	claim->queued = 1;
	claim->event_next = NULL;
	dlki_claim_ref(claim);
	*q->last = claim;
	q->last = &claim->event_next;
	announce(q);
}

void dlki_event_post(struct dlki_claim *claim, enum dlock_event event)
{
	struct dlki_events *q = &claim->client->events;

	if (!claim->client->on_event || q->stop)
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

void dlki_event_done(struct dlock_async *r)
{
	struct dlki_events *q = &r->client->events;

	if (!q->done.first)
		q->done.last = &q->done.first;
	r->queue_next = NULL;
	*q->done.last = r;
	q->done.last = &r->queue_next;
	announce(q);
}

/* ---- Calling it ---------------------------------------------------------- */

/* The next event to deliver, or -1.  A hold that the user has released gets no
 * more events. */
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

/* Is this hold told of the claim's events? */
static int hears(const struct dlki_claim *claim, const dlock_hold *hold)
{
	if (claim->afterwards)
		return hold == &claim->own;
	return hold->count > 0 && !dlki_claim_is_over(claim);
}

static void call_on_event(struct dlki_claim *claim, enum dlock_event event)
{
	struct dlock_client *c = claim->client;
	dlock_hold *hold[2] = { &claim->own, &claim->read };
	char why[sizeof(claim->why)];

	memcpy(why, claim->why, sizeof(why));
	for (int i = 0; i < 2; i++) {
		dlk_time begun = dlk_now();

		if (!hears(claim, hold[i]))
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

/* The program may free the call in its callback; its hold may have been
 * released, and passed on, when that returns. */
static void call_done(struct dlock_async *r)
{
	struct dlock_client *c = r->client;
	struct dlki_claim *claim = r->hold ? r->hold->claim : NULL;
	dlk_time begun = dlk_now();

	if (claim) {
		claim->undelivered = 0;
		if (claim->events != 0)
			queue_claim(claim);
	}
	pthread_mutex_unlock(&c->mu);
	if (r->done) {
		if (r->rc < 0)
			dlki_reject(r->rc, "%s",
				    r->text ? r->text : dlock_strerror(r->rc));
		r->done(r->rc, r->hold, r->arg);
	}
	dlki_async_unref(r);
	pthread_mutex_lock(&c->mu);
	count_callback_time(c, begun);
}

static int call_first_done(struct dlki_events *q)
{
	struct dlock_async *r = q->done.first;

	if (!r)
		return 0;
	q->done.first = r->queue_next;
	q->n--;
	call_done(r);
	return 1;
}

/* With mu held.  0: nothing is queued. */
static int call_next(struct dlock_client *c)
{
	struct dlki_events *q = &c->events;
	struct dlki_claim *claim;
	int event;

	if (call_first_done(q))
		return 1;
	claim = q->first;
	if (!claim)
		return 0;
	event = next_event(claim);
	if (event >= 0) {
		call_on_event(claim, (enum dlock_event)event);
		return 1;
	}
	q->first = claim->event_next;
	if (!q->first)
		q->last = &q->first;
	q->n--;
	claim->queued = 0;
	dlki_claim_unref(claim);
	return 1;
}

/* The process's thread for callbacks has come to this client. */
static int deliver(struct dlki_delivery *delivery)
{
	struct dlock_client *c = CLIENT_OF(delivery);
	struct dlki_events *q = &c->events;
	struct frame frame = { .client = c, .outer = frames };
	int more;

	frames = &frame;
	pthread_mutex_lock(&c->mu);
	for (size_t n = q->n; n > 0 && !q->stop && call_next(c); n--)
		continue;
	more = q->n > 0;
	pthread_mutex_unlock(&c->mu);
	frames = frame.outer;
	return more;
}

void dlki_events_dispatch(struct dlock_client *c)
{
	struct dlki_events *q = &c->events;
	struct frame frame = { .client = c, .outer = frames };
	eventfd_t ignored;

	if (dlki_events_here(c))
		return;
	pthread_mutex_lock(&c->mu);
	while (q->calling)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
	q->calling = 1;
	frames = &frame;
	(void)eventfd_read(q->fd, &ignored);
	for (size_t n = q->n; n > 0 && call_next(c); n--)
		continue;
	if (q->n > 0)
		eventfd_write(q->fd, 1);
	frames = frame.outer;
	q->calling = 0;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mu);
}

/* ---- Start and stop ------------------------------------------------------ */

int dlki_events_thread(struct dlock_client *c, struct dlk_error *err)
{
	int rc = 0;

	if (!c->events.own_loop)
		rc = dlki_delivery_join(&c->events.delivery);
	return rc == 0 ? 0 : dlki_system(err, rc, "starting a thread");
}

int dlki_events_start(struct dlock_client *c, struct dlk_error *err)
{
	struct dlki_events *q = &c->events;

	q->last = &q->first;
	q->fd = -1;
	q->delivery.call = deliver;
	if (q->own_loop) {
		q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		return q->fd < 0 ? dlki_system(err, errno, "eventfd") : 0;
	}
	return c->on_event ? dlki_events_thread(c, err) : 0;
}

static void drop_events(struct dlki_events *q)
{
	while (q->first) {
		struct dlki_claim *claim = q->first;

		q->first = claim->event_next;
		claim->queued = 0;
		dlki_claim_unref(claim);
	}
	q->last = &q->first;
}

void dlki_events_stop(struct dlock_client *c)
{
	struct dlki_events *q = &c->events;
	struct frame frame = { .client = c, .outer = frames };

	pthread_mutex_lock(&c->mu);
	q->stop = 1;
	pthread_mutex_unlock(&c->mu);
	dlki_delivery_leave(&q->delivery);
	frames = &frame;
	pthread_mutex_lock(&c->mu);
	drop_events(q);
	while (call_first_done(q))
		continue;
	drop_events(q);
	pthread_mutex_unlock(&c->mu);
	frames = frame.outer;
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
}
