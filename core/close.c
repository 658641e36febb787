/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/lifecycle.h"
#include "core/store.h"
#include "core/threads.h"
#include "core/async_thread.h"

/* Let no new call begin, and wait for those that are under way. */
static void end_calls(struct dlock_client *c)
{
	pthread_mutex_lock(&c->mu);
	c->closing = 1;
	atomic_store(&c->ends, 1);
	c->events.closing_since = dlk_now();
	dlki_threads_halt(c);
	for (uint32_t i = 0; i < c->slots.n; i++) {
		struct dlki_claim *claim = c->slots.v[i].claim;

		if (claim)
			dlki_claim_rouse(claim);
	}
	dlki_multi_wait_cancel(c);
	while (c->calls > 0)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
	pthread_mutex_unlock(&c->mu);
}

/* End all promises: the store may give a lock to others long before we hear its
 * answer.  Returns how many claims there are. */
static size_t end_promises(struct dlock_client *c)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->slots.n; i++) {
		if (!c->slots.v[i].claim)
			continue;
		dlki_claim_lose(c->slots.v[i].claim, "the client was closed");
		n++;
	}
	return n;
}

static int has_release_all(const struct dlock_backend *b)
{
	return b->size >= offsetof(struct dlock_backend, release_all) +
				  sizeof(b->release_all) &&
	       b->release_all;
}

/* All at once.  0: the store cannot, or there is no memory for it. */
static int release_together(struct dlock_client *c, size_t n, dlk_time deadline)
{
	struct dlk_ticket **tickets;
	struct dlki_claim **claims;
	size_t k = 0;

	if (n == 0 || !has_release_all(c->backend))
		return n == 0;
	tickets = calloc(n, sizeof(tickets[0]));
	claims = calloc(n, sizeof(claims[0]));
	for (uint32_t i = 0; tickets && claims && k < n; i++) {
		struct dlki_claim *claim = c->slots.v[i].claim;

		if (!claim)
			continue;
		dlki_claim_ref(claim);
		claims[k] = claim;
		tickets[k++] = claim->ticket;
	}
	if (k > 0) {
		pthread_mutex_unlock(&c->mu);
		dlki_store_release_all(c, tickets, k, deadline);
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
		struct dlki_claim *claim = c->slots.v[i].claim;

		if (!claim)
			continue;
		dlki_claim_ref(claim);
		pthread_mutex_unlock(&c->mu);
		dlki_store_release(claim->ticket, deadline, &err);
		pthread_mutex_lock(&c->mu);
		dlki_claim_gone(claim);
		dlki_claim_unref(claim);
	}
}

void dlock_close(dlock_client *client)
{
	struct dlki_scope scope = dlki_enter();
	dlk_time deadline;

	if (!client || dlki_client_ours(client, NULL) != 0)
		goto out;
	if (dlki_events_here(client)) {
		dlki_log(client, DLKI_ERROR,
			 "dlock_close() in an event callback does nothing");
		goto out;
	}
	end_calls(client);
	dlki_async_thread_stop(client);
	dlki_threads_stop(client);
	dlki_pump_stop(client);
	dlki_events_stop(client);
	pthread_mutex_lock(&client->mu);
	/* The time of callbacks, which calls may have waited for, does not
	 * count against the store's. */
	deadline = dlki_after_ms(client->events.closing_since +
					 client->events.closing_ns,
				 client->close_ms);
	if (!release_together(client, end_promises(client), deadline))
		release_each(client, deadline);
	pthread_mutex_unlock(&client->mu);
	dlki_store_close(client, deadline);
	dlki_log_end(&client->log);
	pthread_mutex_lock(&client->mu);
	client->dead = 1;
	client->refs--;
	dlki_client_unlock(client);
out:
	dlki_leave(scope);
}
