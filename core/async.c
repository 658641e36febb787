/* SPDX-License-Identifier: Apache-2.0 */
#include "core/async.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/hold.h"

/* The most woken calls that overtake a call. */
enum { OVERTAKES = 64 };

struct dlki_async *dlki_async_new(struct dlock_client *c, dlock_done_fn done,
				  void *arg)
{
	struct dlki_async *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->client = c;
	r->done = done;
	r->arg = arg;
	r->wait.deadline = DLK_FOREVER;
	return r;
}

void dlki_async_free(struct dlki_async *r)
{
	free(r->terms);
	free(r->multi);
	free(r->text);
	free(r);
}

int dlki_async_reserve(struct dlock_client *c, struct dlk_error *err)
{
	if (dlki_heap_reserve(&c->asyncs.next, c->asyncs.n + 1) != 0 ||
	    dlki_heap_reserve(&c->asyncs.end, c->asyncs.n + 1) != 0 ||
	    dlki_slots_reserve(&c->asyncs.slots) != 0)
		return dlki_nomem(err);
	return 0;
}

/* ---- The queues ---------------------------------------------------------- */

static struct dlki_async_queue *queue_of(const struct dlki_async *r)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	if (r->state == DLKI_ASYNC_PARKED)
		return &all->paused;
	if (r->state == DLKI_ASYNC_ASKING)
		return &all->asking;
	if (r->releasing)
		return &all->releases;
	return r->woken ? &all->woken : &all->acquires;
}

void dlki_async_ready(struct dlki_async *r)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	r->state = DLKI_ASYNC_READY;
	TAILQ_INSERT_TAIL(queue_of(r), r, in_queue);
	dlki_asyncs_rouse(all);
}

void dlki_async_enter(struct dlki_async *r)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	all->n++;
	all->pending += r->done != NULL;
	if (!r->whole)
		r->op = dlki_slots_add(&all->slots, r);
}

void dlki_async_pause(struct dlki_async *r, dlk_time at)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	r->state = DLKI_ASYNC_PARKED;
	TAILQ_INSERT_TAIL(&all->paused, r, in_queue);
	dlki_heap_set(&all->next, &r->next, at);
	dlki_asyncs_rouse(all);
}

/* Parts pause, and their whole is PARKED without a queue. */
static int is_paused(const struct dlki_async *r)
{
	return r->state == DLKI_ASYNC_PARKED && r->whole && !r->asleep;
}

/* Take the call out of the queue, and let it wait for no time. */
static void leave_queue(struct dlki_async *r)
{
	if (r->state == DLKI_ASYNC_READY || r->state == DLKI_ASYNC_ASKING ||
	    is_paused(r))
		TAILQ_REMOVE(queue_of(r), r, in_queue);
	if (r->state == DLKI_ASYNC_ASKING)
		r->client->asyncs.n_asking--;
	dlki_heap_remove(&r->client->asyncs.next, &r->next);
}

/* A release that would wait is passed over: so callbacks delay only callbacks.
 *
 * A woken call may have been granted the lock, and other waiters wait for the
 * release: the call does not wait for the requests of calls that have no news.
 * A call for another lock has a turn, however fast the grants come. */
static struct dlki_async *first_ready(struct dlki_asyncs *all)
{
	struct dlki_async *r = TAILQ_FIRST(&all->releases);

	while (r && !r->asks && dlki_hold_end_waits(r->releasing, r->last))
		r = TAILQ_NEXT(r, in_queue);
	if (r)
		return r;
	if (!TAILQ_EMPTY(&all->woken) &&
	    (TAILQ_EMPTY(&all->acquires) || all->overtakes < OVERTAKES)) {
		all->overtakes++;
		return TAILQ_FIRST(&all->woken);
	}
	all->overtakes = 0;
	return TAILQ_FIRST(&all->acquires);
}

struct dlki_async *dlki_async_next(struct dlock_client *c, dlk_time *until)
{
	struct dlki_asyncs *all = &c->asyncs;
	dlk_time now = all->next.n > 0 ? dlk_now() : 0;
	struct dlki_timer *t;
	struct dlki_async *r;

	while ((t = dlki_heap_due(&all->next, now))) {
		r = DLKI_CONTAINER_OF(t, struct dlki_async, next);
		leave_queue(r);
		dlki_async_ready(r);
	}
	*until = dlki_heap_next(&all->next);
	r = first_ready(all);
	if (!r)
		return NULL;
	TAILQ_REMOVE(queue_of(r), r, in_queue);
	r->state = DLKI_ASYNC_RUNNING;
	r->woken = r->roused = 0;
	return r;
}

void dlki_async_park(struct dlki_async *r, dlk_time until)
{
	r->asleep = 1;
	r->roused = 0;
	r->sleeps_until = until;
}

static void await_answer(struct dlki_async *r)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	r->state = DLKI_ASYNC_ASKING;
	TAILQ_INSERT_TAIL(&all->asking, r, in_queue);
	all->n_asking++;
}

void dlki_async_leave(struct dlki_async *r)
{
	if (r->roused) {
		r->woken = 1;
		dlki_async_ready(r);
		return;
	}
	if (r->asks) {
		await_answer(r);
		return;
	}
	r->state = DLKI_ASYNC_PARKED;
	dlki_heap_set(&r->client->asyncs.next, &r->next, r->sleeps_until);
}

struct dlki_async *dlki_async_next_asking(struct dlock_client *c)
{
	struct dlki_async *r = TAILQ_FIRST(&c->asyncs.asking);

	if (!r)
		return NULL;
	leave_queue(r);
	r->state = DLKI_ASYNC_RUNNING;
	r->roused = 0;
	return r;
}

void dlki_async_go_on(struct dlki_async *r)
{
	if (r->state == DLKI_ASYNC_RUNNING)
		r->roused = 1;
	if (r->state != DLKI_ASYNC_ASKING)
		return;
	leave_queue(r);
	r->woken = 1;
	dlki_async_ready(r);
}

/* The time to ask has come, and the turn has not. */
static int is_late_to_ask(const struct dlki_async *r)
{
	return r->state == DLKI_ASYNC_READY && r->asleep && !r->woken;
}

void dlki_async_rouse(struct dlki_async *r)
{
	if (r->state == DLKI_ASYNC_RUNNING)
		r->roused = 1;
	if (r->state != DLKI_ASYNC_PARKED && !is_late_to_ask(r))
		return;
	leave_queue(r);
	r->woken = 1;
	dlki_async_ready(r);
}

/* ---- An upgrade ---------------------------------------------------------- */

static int is_cancelled(const struct dlki_async *r)
{
	return atomic_load(&r->cancels) != 0;
}

/* The program has let go of the write side `hold` before it was told of it. */
static int is_given_up(const struct dlki_async *r, const dlock_hold *hold)
{
	return hold && r->wait.beside && is_cancelled(r);
}

void dlki_async_allow_release(const struct dlki_async *r)
{
	if (r->wait.beside && (r->gate || r->hold) && !is_cancelled(r))
		r->wait.beside->upgrade_calls--;
}

/* The call goes on, as the release of the hold. */
static void give_back(struct dlki_async *r, dlock_hold *hold)
{
	r->hold = NULL;
	r->releasing = hold;
	r->wait = (struct dlki_wait){ .deadline = DLK_FOREVER };
	dlki_call_begin(r->client);
	dlki_async_ready(r);
}

void dlki_async_take_back(const struct dlki_claim *read)
{
	struct dlki_asyncs *all = &read->client->asyncs;
	struct dlki_async *r = TAILQ_FIRST(&all->over), *next;

	for (; r; r = next) {
		next = TAILQ_NEXT(r, in_queue);
		if (r->wait.beside != read || !is_given_up(r, r->hold))
			continue;
		TAILQ_REMOVE(&all->over, r, in_queue);
		all->n_over--;
		all->n++;
		give_back(r, r->hold);
	}
}

static void end_upgrade(struct dlki_async *r, const dlock_hold *hold)
{
	if (!hold)
		dlki_async_allow_release(r);
	dlki_claim_unref(r->gate);
	r->gate = NULL;
	dlki_claim_end_upgrades(r->wait.beside);
}

/* ---- The end ------------------------------------------------------------- */

void dlki_async_over(struct dlki_async *r, int rc, dlock_hold *hold,
		     const struct dlk_error *err)
{
	struct dlki_asyncs *all = &r->client->asyncs;
	struct dlk_error given_back;

	leave_queue(r);
	dlki_heap_remove(&all->end, &r->end);
	if (r->gate)
		end_upgrade(r, hold);
	if (is_given_up(r, hold) && !dlki_claim_has_hold(r->wait.beside)) {
		give_back(r, hold);
		return;
	}
	if (r->releasing && r->acquire.lock) {
		rc = dlk_fail(&given_back, DLOCK_ECANCELED,
			      "the upgrade was cancelled, and the read side "
			      "is released");
		err = &given_back;
	}
	all->n--;
	if (r->whole) {
		r->whole->over(r, rc, hold, err);
		return;
	}
	if (!r->done) {
		dlki_slots_remove(&all->slots, r->op);
		dlki_async_free(r);
		return;
	}
	r->state = DLKI_ASYNC_OVER;
	r->rc = rc;
	r->hold = hold;
	if (rc != 0)
		r->text = strdup(err->text);
	TAILQ_INSERT_TAIL(&all->over, r, in_queue);
	all->n_over++;
	if (r->in_batch)
		dlki_due_tell_soon(&all->due);
	else
		dlki_due_tell(&all->due);
}

struct dlki_async *dlki_async_take(struct dlock_client *c)
{
	struct dlki_asyncs *all = &c->asyncs;
	struct dlki_async *r = TAILQ_FIRST(&all->over);

	if (!r)
		return NULL;
	TAILQ_REMOVE(&all->over, r, in_queue);
	all->n_over--;
	all->pending--;
	dlki_slots_remove(&all->slots, r->op);
	dlki_async_allow_release(r);
	return r;
}
