/* SPDX-License-Identifier: Apache-2.0 */
#include "core/close.h"

#include <stdlib.h>

#include "core/base/attendant.h"
#include "core/base/clock.h"
#include "core/guard.h"
#include "core/lifecycle.h"
#include "core/async.h"
#include "core/multi.h"
#include "core/registry.h"
#include "core/store.h"
#include "core/async_process.h"
#include "core/async_job.h"

/* How often a close looks after the parts of other clients. */
#define PARTS_NS (10 * DLK_MS)

/* With mu held: is a call for a multi-lock under way, of which another client
 * may have a part? */
static int has_parts(const struct dlock_client *c)
{
	const struct dlki_slots *slots = &c->asyncs.slots;

	for (uint32_t i = 0; i < slots->n; i++) {
		const struct dlki_async *r = slots->v[i].item;

		if (r && r->multi)
			return 1;
	}
	return !LIST_EMPTY(&c->waits);
}

/* With mu held, which is released meanwhile: do what is due at other clients
 * without threads, as this thread may be the program's only.  Returns when to
 * do so again. */
static dlk_time attend_parts(struct dlock_client *c)
{
	if (!has_parts(c))
		return DLK_FOREVER;
	pthread_mutex_unlock(&c->mu);
	dlki_attend_others(c->attendant);
	pthread_mutex_lock(&c->mu);
	return dlk_now() + PARTS_NS;
}

/* With mu held: wait for the calls under way.  A thread of dlock's leaves the
 * parts of other clients to the program. */
static void await_calls(struct dlock_client *c)
{
	int is_program = c->attendant || !c->close_call;

	while (c->calls > 0) {
		dlk_time until = is_program ? attend_parts(c) : DLK_FOREVER;

		if (c->calls > 0)
			dlki_client_sleep(c, until);
	}
}

/* Let no new call begin, and wait for the calls under way. */
static void end_calls(struct dlock_client *c)
{
	pthread_mutex_lock(&c->mu);
	c->closing = 1;
	atomic_store(&c->ends, 1);
	c->events.closing_since = dlk_now();
	c->schedule.stop = 1;
	for (uint32_t i = 0; i < c->slots.n; i++) {
		struct dlki_claim *claim = c->slots.v[i].item;

		if (claim)
			dlki_claim_rouse(claim);
	}
	dlki_asyncs_rouse_releases(&c->asyncs);
	pthread_mutex_unlock(&c->mu);
	dlki_rousers_rouse(&c->rousers);
	pthread_mutex_lock(&c->mu);
	dlki_multi_wait_cancel(c);
	await_calls(c);
	pthread_mutex_unlock(&c->mu);
}

/* End all promises: the store may give a lock to others long before the answer
 * arrives.  Returns how many claims there are. */
static size_t end_promises(struct dlock_client *c)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->slots.n; i++) {
		if (!c->slots.v[i].item)
			continue;
		dlki_claim_lose(c->slots.v[i].item, "the client was closed");
		n++;
	}
	return n;
}

/* All at once.  0: the store cannot, or there is no memory for it. */
static int release_together(struct dlock_client *c, size_t n, dlk_time deadline)
{
	struct dlk_ticket **tickets;
	struct dlki_claim **claims;
	size_t k = 0;

	if (n == 0 || !DLKI_HAS(c->backend, release_all))
		return n == 0;
	tickets = calloc(n, sizeof(tickets[0]));
	claims = calloc(n, sizeof(claims[0]));
	for (uint32_t i = 0; tickets && claims && k < n; i++) {
		struct dlki_claim *claim = c->slots.v[i].item;

		if (!claim)
			continue;
		dlki_claim_ref(claim);
		claims[k] = claim;
		tickets[k++] = claim->ticket;
	}
	if (k > 0) {
		pthread_mutex_unlock(&c->mu);
		DLKI_STORE(c, c->backend->release_all(c->session, tickets, k,
						      deadline));
		pthread_mutex_lock(&c->mu);
	}
	for (size_t i = 0; i < k; i++) {
		dlki_claim_gone(claims[i]);
		dlki_claim_unref(claims[i]);
	}
	free(tickets);
	free(claims);
	return k > 0;
}

static void release_each(struct dlock_client *c, dlk_time deadline)
{
	struct dlk_error err = { 0 };

	for (uint32_t i = 0; i < c->slots.n; i++) {
		struct dlki_claim *claim = c->slots.v[i].item;

		if (!claim)
			continue;
		dlki_claim_ref(claim);
		pthread_mutex_unlock(&c->mu);
		DLKI_STORE(c,
			   c->backend->release(claim->ticket, deadline, &err));
		pthread_mutex_lock(&c->mu);
		dlki_claim_gone(claim);
		dlki_claim_unref(claim);
	}
}

/* Whatever the store has of the claim. */
static void close_store(struct dlock_client *c)
{
	dlk_time deadline;

	end_calls(c);
	dlki_async_job_stop(c);
	dlki_threads_stop(c);
	dlki_pump_stop(c);
	dlki_events_stop(c);
	pthread_mutex_lock(&c->mu);
	/* The time of callbacks, which calls may have waited for, does not
	 * count against the store's. */
	deadline = dlki_after_ms(c->events.closing_since + c->events.closing_ns,
				 c->close_ms);
	if (!release_together(c, end_promises(c), deadline))
		release_each(c, deadline);
	pthread_mutex_unlock(&c->mu);
	DLKI_STORE(c, c->backend->close(c->session, deadline));
}

/* With mu held: no dlock_process() has begun to open. */
static void cancel_open(struct dlock_client *c)
{
	struct dlk_error err;
	int rc = dlk_fail(&err, DLOCK_ECANCELED, "the client was closed");

	dlki_async_over(c->open_call, rc, NULL, &err);
	c->open_call = NULL;
}

/* A client that is being opened gives up soon. */
static void await_opener(struct dlock_client *c)
{
	if (!c->has_opener)
		return;
	pthread_mutex_lock(&c->mu);
	c->closing = 1;
	atomic_store(&c->ends, 1);
	if (c->open_call)
		cancel_open(c);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mu);
	dlki_rousers_rouse(&c->rousers);
	if (!c->attendant) {
		pthread_join(c->opener, NULL);
		return;
	}
	pthread_mutex_lock(&c->mu);
	while (c->opens)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
	pthread_mutex_unlock(&c->mu);
}

void dlki_close_run(struct dlock_client *c)
{
	await_opener(c);
	if (atomic_load(&c->opened))
		close_store(c);
	if (!c->log.due)
		dlki_log_end(&c->log);
	pthread_mutex_lock(&c->mu);
	c->close_is = DLKI_CLOSE_ENDS;
	pthread_cond_broadcast(&c->changed);
	dlki_due_tell(&c->asyncs.due);
	pthread_mutex_unlock(&c->mu);
}

void dlki_close_finish(struct dlock_client *c)
{
	struct dlki_async *last = c->close_call;

	if (last && !c->attendant)
		pthread_join(c->closer, NULL);
	dlki_process_rest(c, last);
	pthread_mutex_lock(&c->mu);
	c->refs--;
	dlki_due_destroy(&c->asyncs.due);
	dlki_client_unlock(c);
}

/* With mu held, which is released: another thread finishes the close. */
static void await_end(struct dlock_client *c)
{
	c->refs++;
	while (c->close_is != DLKI_CLOSE_OVER)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
	c->refs--;
	dlki_client_unlock(c);
}

/* A client that dlock_close_start() closes is waited for. */
static void close_client(struct dlock_client *c)
{
	int runs;

	pthread_mutex_lock(&c->mu);
	if (c->asyncs.ended) {
		await_end(c);
		return;
	}
	c->asyncs.ended = 1; /* no other thread finishes the close */
	runs = c->close_is == DLKI_CLOSE_NONE ||
	       (c->attendant && c->close_is == DLKI_CLOSE_BEGUN);
	if (runs)
		c->close_is = DLKI_CLOSE_RUNS;
	pthread_mutex_unlock(&c->mu);
	if (runs)
		dlki_close_run(c);
	pthread_mutex_lock(&c->mu);
	while (c->close_is != DLKI_CLOSE_ENDS || c->asyncs.processing)
		dlk_cond_wait(&c->changed, &c->mu, attend_parts(c));
	c->asyncs.processing = 1;
	dlki_process_end_waits(c, 0, 0);
	pthread_mutex_unlock(&c->mu);
	dlki_close_finish(c);
}

void dlock_close(dlock_client *client)
{
	struct dlki_scope s = dlki_enter();

	if (!client || dlki_client_here(client, NULL) != 0)
		goto out;
	if (dlki_events_here(client) || dlki_process_here(client))
		dlki_log(client, DLKI_ERROR,
			 "dlock_close() in a callback does nothing: "
			 "dlock_close_start() may be called there");
	else
		close_client(client);
out:
	dlki_leave(&s);
}
