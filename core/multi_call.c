/* SPDX-License-Identifier: Apache-2.0 */
#include "core/multi_call.h"

#include <stdlib.h>

#include "core/async_job.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/multi.h"
#include "core/multi_acquire.h"
#include "core/overdue.h"

/* ---- The end ------------------------------------------------------------- */

static void unlink_clients(struct dlki_multi_call *call, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dlki_client_end(call->waits[i].client);
}

/* From here on, the client of the operation may go as soon as mu is free. */
static void tell_end(struct dlki_multi_call *call, int rc,
		     const struct dlk_error *err)
{
	struct dlki_async *op = call->op;
	struct dlock_client *home = op->client;
	dlock_hold *hold = NULL;

	if (call->lock && rc == 0)
		hold = &call->m->hold;
	else
		dlki_multi_hold_free(call->m);
	pthread_mutex_lock(&home->mu);
	dlki_call_end(home);
	dlki_async_over(op, rc, hold, err);
	dlki_client_unlock(home);
}

static void end_acquire(struct dlki_multi_call *call, int rc,
			const struct dlk_error *err)
{
	struct dlock_client *home = call->op->client;
	size_t n = call->lock->multi->n_clients;

	pthread_mutex_lock(&home->mu);
	dlki_call_begin(home); /* until the end is told */
	call->ending = 1;
	while (call->pins > 0)
		dlk_cond_wait(&home->changed, &home->mu, DLK_FOREVER);
	pthread_mutex_unlock(&home->mu);
	dlki_multi_wait_end(call->waits, n);
	unlink_clients(call, n);
	free(call->waits);
	tell_end(call, rc, err);
}

/* ---- Steps --------------------------------------------------------------- */

/* With mu held.  DLKI_SLEEPS: the async job has the call, from `at` on.  A
 * cancel that is not seen here finds the step. */
static int enter_step(struct dlki_multi_call *call, dlk_time at,
		      dlock_hold **hold, struct dlk_error *err)
{
	struct dlki_async *r = call->part;
	int rc = dlki_async_reserve(r->client, err);

	atomic_store(&call->at, r->client);
	if (rc == 0)
		rc = dlki_multi_cancelled(&r->wait, err);
	if (rc == 0)
		rc = dlki_acquire_begin(&r->acquire, hold, err);
	if (rc == 0 && !r->acquire.claim)
		dlki_hold_claim(*hold)->undelivered = DLKI_TO_HAND_OUT;
	if (!r->acquire.claim) {
		atomic_store(&call->at, NULL);
		return rc;
	}
	dlki_async_enter(r);
	dlki_overdue_begin(r);
	if (at > r->wait.begun)
		dlki_async_pause(r, at);
	else
		dlki_async_ready(r);
	return DLKI_SLEEPS;
}

/* Ask for the `next` member.  Returns the result of a step that ends at once,
 * or DLKI_SLEEPS: the thread that ends the step goes on with the call, which
 * may be gone by now. */
static int begin_step(struct dlki_multi_call *call, struct dlki_wait wait,
		      dlk_time at, dlock_hold **hold, struct dlk_error *err)
{
	dlock_lock *lock = call->lock->multi->member[call->next].lock;
	struct dlock_client *c = lock->record->client;
	struct dlki_async *r = call->part;
	int rc;

	*r = (struct dlki_async){
		.client = c,
		.multi = call,
		.whole = &dlki_multi_call_whole,
		.wait = wait,
	};
	r->wait.begun = dlk_now();
	r->acquire = (struct dlki_acquire){
		.lock = lock,
		.wait = &r->wait,
		.call = r,
		.mode = dlki_lock_mode(lock),
	};
	pthread_mutex_lock(&c->mu);
	rc = enter_step(call, at, hold, err);
	pthread_mutex_unlock(&c->mu);
	return rc;
}

static void note_member(struct dlki_multi_call *call, dlock_hold *hold)
{
	const struct dlki_multi *multi = call->lock->multi;
	struct dlki_multi_hold *m = call->m;

	m->member[m->n].hold = hold;
	m->member[m->n++].place = multi->member[call->next].place;
	if (m->n == 1)
		m->tried_at = dlk_now();
}

/* The first is waited for, the others are tried in their order. */
static size_t following(const struct dlki_multi_call *call)
{
	size_t i = call->m->n == 1 ? 0 : call->next + 1;

	return i + (i == call->first);
}

static void give_way(struct dlki_multi_call *call, int rc,
		     const struct dlk_error *err);

/* A step has ended with `rc`: begin the next.  With DLKI_SLEEPS, another thread
 * may have ended and freed the call. */
static void go_on(struct dlki_multi_call *call, int rc, dlock_hold *hold,
		  struct dlk_error *err)
{
	while (rc == 0) {
		note_member(call, hold);
		if (call->m->n == call->lock->multi->n)
			break;
		call->next = following(call);
		rc = begin_step(call, dlki_multi_try(&call->wait), 0, &hold,
				err);
	}
	if (rc == DLKI_SLEEPS)
		return;
	if (rc == 0) {
		call->next = call->first;
		rc = dlki_multi_complete(call->m, err);
	}
	if (rc != 0) {
		give_way(call, rc, err);
		return;
	}
	atomic_store(&call->lock->multi->first, call->first);
	end_acquire(call, 0, err);
}

/* ---- After a failed step ------------------------------------------------- */

/* The call has no members. */
static void ask_anew(struct dlki_multi_call *call)
{
	struct dlki_wait *w = &call->wait;
	struct dlk_error err = call->err;
	dlock_hold *hold = NULL;
	dlk_time at;
	int rc;

	if (call->final || dlk_now() >= w->deadline) {
		end_acquire(call, call->rc, &err);
		return;
	}
	if (dlki_multi_cancelled(w, &err) != 0) {
		end_acquire(call, err.code, &err);
		return;
	}
	at = dlki_multi_pause(&call->pauses, call->op->client,
			      call->m->tried_at, w->deadline);
	call->first = call->next;
	rc = begin_step(call, *w, at, &hold, &err);
	go_on(call, rc, hold, &err);
}

static void give_way(struct dlki_multi_call *call, int rc,
		     const struct dlk_error *err)
{
	call->rc = rc;
	call->err = *err;
	if (call->m->n == 0 || call->wait.once)
		call->final = 1;
	if (call->m->n > 0)
		dlki_multi_parts_give_back(call);
	else
		ask_anew(call);
}

/* Does the call have the busy member already?  EBUSY, or EINVAL. */
static int look(struct dlki_async *r, struct dlk_error *err)
{
	struct dlki_multi_call *call = r->multi;
	struct dlki_multi *multi = call->lock->multi;
	struct dlock_client *c = r->client;

	if (call->m->n == 0)
		return DLOCK_EBUSY;
	pthread_mutex_unlock(&c->mu);
	if (dlki_multi_twice(&call->twice, call->m, &multi->member[call->next],
			     err))
		call->final = 1;
	pthread_mutex_lock(&c->mu);
	return call->final ? err->code : DLOCK_EBUSY;
}

static void released(struct dlki_multi_call *call, int rc,
		     const struct dlk_error *err)
{
	if (!dlki_multi_parts_released(call, rc, err))
		return;
	if (call->lock)
		ask_anew(call);
	else
		tell_end(call, call->rc, &call->err);
}

static void part_over(struct dlki_async *r, int rc, dlock_hold *hold,
		      const struct dlk_error *err)
{
	struct dlki_multi_call *call = r->multi;
	struct dlock_client *c = r->client;
	struct dlk_error why = *err;

	if (!r->releasing) {
		atomic_store(&call->at, NULL);
		if (call->m->n == 0)
			call->wait.deadline = r->wait.deadline;
	}
	pthread_mutex_unlock(&c->mu);
	if (r->releasing)
		released(call, rc, &why);
	else
		go_on(call, rc, hold, &why);
	pthread_mutex_lock(&c->mu);
}

const struct dlki_async_whole dlki_multi_call_whole = {
	.look = look,
	.over = part_over,
};

/* ---- The beginning ------------------------------------------------------- */

/* Enter the call with all the clients, or with no client. */
static int begin_clients(struct dlki_multi_call *call, struct dlk_error *err)
{
	const struct dlki_multi *multi = call->lock->multi;

	for (size_t i = 0; i < multi->n_clients; i++) {
		struct dlock_client *c = multi->clients[i];
		int rc = dlki_async_client_begin(c, err);

		call->waits[i].client = c;
		if (rc != 0) {
			unlink_clients(call, i);
			return rc;
		}
	}
	return 0;
}

static int begin(struct dlki_multi_call *call, dlock_op *number,
		 struct dlk_error *err)
{
	size_t n = call->lock->multi->n_clients;
	int rc = begin_clients(call, err);

	if (rc != 0)
		return rc;
	rc = dlki_multi_wait_begin(call->waits, n, call->lock, err);
	if (rc == 0) {
		rc = dlki_multi_parts_enter(call, number, err);
		if (rc != 0)
			dlki_multi_wait_end(call->waits, n);
	}
	if (rc != 0)
		unlink_clients(call, n);
	return rc;
}

int dlki_multi_call_acquire(struct dlki_async *op, dlock_lock *lock,
			    int64_t timeout_ms, dlock_op *number,
			    struct dlk_error *err)
{
	struct dlki_multi *multi = lock->multi;
	struct dlki_multi_call *call;
	dlock_hold *hold = NULL;
	int rc = dlki_multi_terms_check(multi, op->terms, err);

	if (rc != 0)
		return rc;
	call = dlki_multi_call_new(op, multi->n);
	if (!call)
		return dlki_nomem(err);
	call->lock = lock;
	call->m = dlki_multi_hold_new(multi);
	call->waits = calloc(multi->n_clients, sizeof(call->waits[0]));
	call->wait = dlki_wait_new(lock, timeout_ms);
	call->wait.patience.own = &op->cancels;
	call->wait.terms = op->terms;
	if (call->m && call->waits)
		rc = begin(call, number, err);
	else
		rc = dlki_nomem(err);
	if (rc != 0) {
		dlki_multi_hold_free(call->m);
		free(call->waits);
		return rc;
	}
	rc = dlki_wait_begin(&call->wait, err);
	if (rc != 0) {
		end_acquire(call, rc, err);
		return 0;
	}
	call->first = call->next = atomic_load(&multi->first);
	rc = begin_step(call, call->wait, 0, &hold, err);
	go_on(call, rc, hold, err);
	return 0;
}

/* ---- Cancelling ---------------------------------------------------------- */

void dlki_multi_call_rouse(struct dlki_multi_call *call)
{
	struct dlock_client *home = call->op->client;
	struct dlock_client *c;

	if (call->ending)
		return;
	call->pins++;
	pthread_mutex_unlock(&home->mu);
	c = atomic_load(&call->at);
	if (c) {
		pthread_mutex_lock(&c->mu);
		if (atomic_load(&call->at) == c)
			dlki_overdue_cancelled(call->part);
		pthread_mutex_unlock(&c->mu);
		dlki_rousers_rouse(&c->rousers);
	}
	pthread_mutex_lock(&home->mu);
	call->pins--;
	pthread_cond_broadcast(&home->changed);
}
