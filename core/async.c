/* SPDX-License-Identifier: Apache-2.0 */
#include "core/async.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"

#define ASYNC_OF_NEXT(timer)                                                   \
	((struct dlock_async *)(void *)((                                      \
		char *)(timer)-offsetof(struct dlock_async, next)))

struct dlock_async *dlki_async_new(struct dlock_client *c, dlock_done_fn done,
				   void *arg)
{
	struct dlock_async *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->client = c;
	r->done = done;
	r->arg = arg;
	atomic_init(&r->refs, 1);
	return r;
}

void dlki_async_unref(struct dlock_async *r)
{
	if (atomic_fetch_sub(&r->refs, 1) > 1)
		return;
	free(r->text);
	free(r);
}

int dlki_async_reserve(struct dlock_client *c, struct dlk_error *err)
{
	if (dlki_heap_reserve(&c->asyncs.next, c->asyncs.n + 1) != 0 ||
	    dlki_heap_reserve(&c->asyncs.end, c->asyncs.n + 1) != 0)
		return dlki_nomem(err);
	return 0;
}

/* ---- The queues ---------------------------------------------------------- */

static struct dlki_async_queue *queue_of(const struct dlock_async *r)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	return r->releasing ? &all->releases : &all->acquires;
}

static void make_ready(struct dlock_async *r)
{
	struct dlki_asyncs *all = &r->client->asyncs;
	struct dlki_async_queue *q = queue_of(r);

	if (!q->first)
		q->last = &q->first;
	r->state = DLKI_ASYNC_READY;
	r->queue_next = NULL;
	r->queue_link = q->last;
	*q->last = r;
	q->last = &r->queue_next;
	if (all->idle)
		pthread_cond_signal(&all->ready);
}

static void unlink_ready(struct dlock_async *r)
{
	struct dlki_async_queue *q = queue_of(r);

	*r->queue_link = r->queue_next;
	if (r->queue_next)
		r->queue_next->queue_link = r->queue_link;
	else
		q->last = r->queue_link;
}

void dlki_async_enter(struct dlock_async *r)
{
	atomic_fetch_add(&r->refs, 1);
	r->client->asyncs.n++;
	make_ready(r);
}

struct dlock_async *dlki_async_next(struct dlock_client *c, dlk_time *until)
{
	struct dlki_asyncs *all = &c->asyncs;
	struct dlki_timer *t = dlki_heap_first(&all->next);
	struct dlock_async *r;
	dlk_time now = t ? dlk_now() : 0;

	for (; t && t->at <= now; t = dlki_heap_first(&all->next)) {
		dlki_heap_remove(&all->next, t);
		make_ready(ASYNC_OF_NEXT(t));
	}
	*until = t ? t->at : DLK_FOREVER;
	r = all->releases.first ? all->releases.first : all->acquires.first;
	if (!r)
		return NULL;
	unlink_ready(r);
	r->state = DLKI_ASYNC_RUNNING;
	r->roused = 0;
	return r;
}

void dlki_async_park(struct dlock_async *r, dlk_time until)
{
	r->asleep = 1;
	r->roused = 0;
	r->sleeps_until = until;
}

void dlki_async_leave(struct dlock_async *r)
{
	if (r->roused) {
		make_ready(r);
		return;
	}
	r->state = DLKI_ASYNC_PARKED;
	if (r->sleeps_until != DLK_FOREVER)
		dlki_heap_set(&r->client->asyncs.next, &r->next,
			      r->sleeps_until);
}

void dlki_async_rouse(struct dlock_async *r)
{
	if (r->state == DLKI_ASYNC_RUNNING)
		r->roused = 1;
	if (r->state != DLKI_ASYNC_PARKED)
		return;
	dlki_heap_remove(&r->client->asyncs.next, &r->next);
	make_ready(r);
}

void dlki_async_over(struct dlock_async *r, int rc, dlock_hold *hold,
		     const struct dlk_error *err)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	if (r->state == DLKI_ASYNC_READY)
		unlink_ready(r);
	dlki_heap_remove(&all->next, &r->next);
	dlki_heap_remove(&all->end, &r->end);
	all->n--;
	r->state = DLKI_ASYNC_OVER;
	r->rc = rc;
	r->hold = hold;
	if (rc != 0)
		r->text = strdup(err->text);
	atomic_store(&r->over, 1);
}
