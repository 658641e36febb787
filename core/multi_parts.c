/* SPDX-License-Identifier: Apache-2.0 */
#include "core/multi_call.h"

#include <stdlib.h>

#include "core/ask.h"
#include "core/async_job.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/overdue.h"

struct dlki_multi_call *dlki_multi_call_new(struct dlki_async *op, size_t n)
{
	struct dlki_multi_call *call;

	call = calloc(1, sizeof(*call) + n * sizeof(call->part[0]));
	if (!call)
		return NULL;
	call->op = op;
	op->multi = call;
	return call;
}

/* An acquire counts as a call of each client already. */
int dlki_multi_parts_enter(struct dlki_multi_call *call, dlock_op *number,
			   struct dlk_error *err)
{
	struct dlki_async *op = call->op;
	struct dlock_client *home = op->client;
	int rc;

	pthread_mutex_lock(&home->mu);
	rc = dlki_async_reserve(home, err);
	/* Other threads hand out no upgrade between the check and the end of
	 * the hold. */
	if (rc == 0 && !call->lock && call->m->upgradeable)
		rc = dlki_async_release(&call->part[0], err);
	if (rc == 0) {
		if (!call->lock)
			dlki_call_begin(home);
		dlki_async_enter(op);
		op->state = DLKI_ASYNC_PARKED;
		op->acquire.lock = call->lock;
		if (number)
			*number = op->op;
	}
	pthread_mutex_unlock(&home->mu);
	return rc;
}

/* ---- The parts ----------------------------------------------------------- */

/* A part for each member, in reverse; then the call has no members. */
static size_t make_parts(struct dlki_multi_call *call)
{
	struct dlki_multi_hold *m = call->m;
	size_t n = m->n;

	for (size_t i = 0; i < n; i++) {
		dlock_hold *hold = m->member[n - 1 - i].hold;

		call->part[i] = (struct dlki_async){
			.client = dlki_hold_claim(hold)->client,
			.multi = call,
			.whole = &dlki_multi_call_whole,
			.releasing = hold,
			.wait = call->wait,
		};
	}
	call->left = n;
	m->n = 0;
	return n;
}

/* The program never had the hold, so no release of it is refused. */
static void begin_giving_back(struct dlki_async *r)
{
	struct dlock_client *c = r->client;
	struct dlk_error never;

	r->wait.deadline = dlki_after_ms(r->wait.deadline,
					 dlki_ask_ms(&c->ask));
	pthread_mutex_lock(&c->mu);
	dlki_call_begin(c);
	(void)dlki_async_release(r, &never);
	dlki_overdue_at(r, dlki_after_ms(dlk_now(), dlki_ask_ms(&c->ask)));
	pthread_mutex_unlock(&c->mu);
}

/* Once the last has begun, the call may be gone. */
void dlki_multi_parts_give_back(struct dlki_multi_call *call)
{
	struct dlki_async *part = call->part;
	size_t n = make_parts(call);

	for (size_t i = 0; i < n; i++)
		begin_giving_back(&part[i]);
}

/* In a release the worst failure is the result. */
int dlki_multi_parts_released(struct dlki_multi_call *call, int rc,
			      const struct dlk_error *err)
{
	struct dlock_client *home = call->op->client;
	size_t left;

	pthread_mutex_lock(&home->mu);
	if (!call->lock && rc != 0 && (call->rc == 0 || rc == DLOCK_ELOST)) {
		call->rc = rc;
		call->err = *err;
	}
	left = --call->left;
	pthread_mutex_unlock(&home->mu);
	return left == 0;
}

/* ---- A release ----------------------------------------------------------- */

static void end_members(const struct dlki_multi_hold *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dlki_client_end(dlki_hold_claim(m->member[i].hold)->client);
}

/* Enter a call with each member's client, or with no client. */
static int begin_members(struct dlki_multi_hold *m, struct dlk_error *err)
{
	size_t n = 0;
	int rc = 0;

	while (n < m->n && rc == 0) {
		rc = dlki_async_client_begin(
			dlki_hold_claim(m->member[n].hold)->client, err);
		n += rc == 0;
	}
	if (rc == 0)
		rc = dlki_multi_may_release(m, err);
	if (rc != 0)
		end_members(m, n);
	return rc;
}

int dlki_multi_call_release(struct dlki_async *op, dlock_hold *hold,
			    struct dlk_error *err)
{
	struct dlki_multi_hold *m = dlki_hold_multi(hold);
	struct dlki_multi_call *call = dlki_multi_call_new(op, m->n);
	struct dlki_async *part;
	size_t n;
	int rc;

	if (!call)
		return dlki_nomem(err);
	rc = begin_members(m, err);
	if (rc != 0)
		return rc;
	call->m = m;
	call->wait.deadline = DLK_FOREVER;
	n = make_parts(call);
	rc = dlki_multi_parts_enter(call, NULL, err);
	if (rc != 0) {
		m->n = n;
		end_members(m, n);
		return rc;
	}
	/* Once the last has begun, the call may be gone. */
	part = call->part;
	for (size_t i = m->upgradeable ? 1 : 0; i < n; i++) {
		struct dlock_client *c = part[i].client;

		pthread_mutex_lock(&c->mu);
		(void)dlki_async_release(&part[i], err);
		pthread_mutex_unlock(&c->mu);
	}
	return 0;
}

/* ---- Handing out --------------------------------------------------------- */

void dlki_multi_parts_hand_out(struct dlki_multi_call *call,
			       const dlock_hold *hold)
{
	const struct dlki_multi_hold *m = dlki_hold_multi(hold);

	call->left = m->n;
	for (size_t i = 0; i < m->n; i++) {
		struct dlki_claim *claim = dlki_hold_claim(m->member[i].hold);

		call->part[i].acquire.claim = claim;
		pthread_mutex_lock(&claim->client->mu);
		claim->undelivered = DLKI_HANDING_OUT;
		dlki_claim_ref(claim);
		pthread_mutex_unlock(&claim->client->mu);
	}
}

void dlki_multi_parts_handed_out(struct dlki_multi_call *call)
{
	for (size_t i = 0; i < call->left; i++) {
		struct dlki_claim *claim = call->part[i].acquire.claim;
		struct dlock_client *c = claim->client;

		pthread_mutex_lock(&c->mu);
		dlki_event_handed_out(claim);
		dlki_claim_unref(claim);
		dlki_client_unlock(c);
	}
	free(call);
}
