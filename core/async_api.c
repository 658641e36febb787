/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions that begin an asynchronous call, or cancel it. */
#include <dlock/async.h>

#include "core/async_job.h"
#include "core/base/error.h"
#include "core/base/process.h"
#include "core/guard.h"
#include "core/inspect.h"
#include "core/multi.h"
#include "core/multi_call.h"
#include "core/overdue.h"
#include "core/permits.h"
#include "core/release.h"
#include "core/upgrade.h"

/* ---- Acquire ------------------------------------------------------------- */

static int check_belongs(const dlock_lock *lock, struct dlk_error *err)
{
	if (lock->unbound || lock->record->kind == DLK_SEMAPHORE)
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"lock '%s': the holds of this handle belong to "
			"threads: call dlock_lock_unbind() first",
			lock->record->name);
}

static int check_members(const struct dlki_multi *multi, struct dlk_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < multi->n && rc == 0; i++)
		rc = check_belongs(multi->member[i].lock, err);
	return rc;
}

static int check_acquire(const dlock_lock *lock, int shared, dlock_done_fn done,
			 struct dlk_error *err)
{
	int rc = dlki_lock_check(lock, shared, err);

	if (rc == 0 && !done)
		rc = dlk_fail(err, DLOCK_EINVAL, "done is NULL");
	if (rc != 0)
		return rc;
	return dlki_lock_is_multi(lock) ? check_members(lock->multi, err) :
					  check_belongs(lock, err);
}

/* With mu held: the call is over, or the async job's. */
static int enter_acquire(struct dlki_async *r, dlock_op *op,
			 struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	dlock_hold *hold = NULL;
	int cancelled = 0;
	int rc = dlki_async_reserve(c, err);

	if (rc == 0)
		cancelled = dlki_wait_begin(&r->wait, err);
	if (rc == 0 && cancelled == 0)
		rc = dlki_acquire_begin(&r->acquire, &hold, err);
	if (rc != 0)
		return rc;
	dlki_async_enter(r);
	if (op)
		*op = r->op;
	if (r->acquire.claim) {
		dlki_async_ready(r);
		dlki_overdue_begin(r);
		return 0;
	}
	if (hold)
		dlki_hold_claim(hold)->undelivered = DLKI_TO_HAND_OUT;
	dlki_async_over(r, cancelled, hold, err);
	return 0;
}

static int acquire_start(dlock_lock *lock, const dlock_acquire_options *o,
			 struct dlki_async *r, dlock_op *op,
			 struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	int rc = dlki_terms_new(&r->terms, o, err);

	if (rc == 0 && dlki_lock_is_multi(lock))
		return dlki_multi_call_acquire(r, lock, o->timeout_ms, op, err);
	if (rc == 0)
		rc = dlki_terms_check(r->terms, c->schedule.ttl_ms, err);
	if (rc != 0)
		return rc;
	r->wait = dlki_wait_new(lock, o->timeout_ms);
	r->wait.patience.own = &r->cancels;
	r->wait.terms = r->terms;
	r->wait.permits = o->permits;
	r->acquire = (struct dlki_acquire){
		.lock = lock,
		.wait = &r->wait,
		.call = r,
		.mode = o->shared ? DLK_SHARED : dlki_lock_mode(lock),
	};
	pthread_mutex_lock(&c->mu);
	rc = enter_acquire(r, op, err);
	pthread_mutex_unlock(&c->mu);
	return rc;
}

static int begin_acquire(dlock_lock *lock, const dlock_acquire_options *opts,
			 dlock_done_fn done, void *arg, dlock_op *op,
			 struct dlk_error *err)
{
	dlock_acquire_options o;
	const dlock_lock *one;
	struct dlki_async *r;
	struct dlock_client *c;
	int rc = dlki_acquire_options(&o, opts, err);

	if (rc == 0)
		rc = check_acquire(lock, o.shared, done, err);
	if (rc == 0)
		rc = dlki_permits_check(lock, o.permits, err);
	if (rc == 0)
		rc = dlki_timeout_check(o.timeout_ms, err);
	if (rc != 0)
		return rc;
	one = dlki_lock_is_multi(lock) ? dlki_multi_lock(lock->multi, 0) : lock;
	c = one->record->client;
	r = dlki_async_begin(c, done, arg, err);
	if (!r)
		return err->code;
	return dlki_async_begun(c, r, acquire_start(lock, &o, r, op, err));
}

int dlock_acquire_opts_start(dlock_lock *lock,
			     const dlock_acquire_options *opts,
			     dlock_done_fn done, void *arg, dlock_op *op)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, begin_acquire(lock, opts, done, arg, op,
						 &s.err));
}

int dlock_acquire_start(dlock_lock *lock, int64_t timeout_ms,
			dlock_done_fn done, void *arg, dlock_op *op)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = timeout_ms;
	return dlock_acquire_opts_start(lock, &o, done, arg, op);
}

int dlock_acquire_shared_start(dlock_lock *lock, int64_t timeout_ms,
			       dlock_done_fn done, void *arg, dlock_op *op)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = timeout_ms;
	o.shared = 1;
	return dlock_acquire_opts_start(lock, &o, done, arg, op);
}

/* ---- Upgrade ------------------------------------------------------------- */

static int check_upgrade(const dlock_lock *lock, const dlock_hold *hold,
			 int64_t timeout_ms, dlock_done_fn done,
			 struct dlki_claim **read, struct dlk_error *err)
{
	int rc = done ? 0 : dlk_fail(err, DLOCK_EINVAL, "done is NULL");

	if (rc == 0)
		rc = dlki_upgrade_check(lock, hold, read, err);
	if (rc == 0)
		rc = check_members(lock->multi, err);
	if (rc == 0)
		rc = dlki_timeout_check(timeout_ms, err);
	return rc;
}

static int upgrade_start(dlock_lock *lock, dlock_hold *hold,
			 struct dlki_async *r, dlock_op *op,
			 struct dlk_error *err)
{
	struct dlki_claim *read = r->wait.beside;
	struct dlock_client *c = r->client;
	int rc;

	r->wait.patience.own = &r->cancels;
	r->wait.terms = read->terms;
	r->acquire = (struct dlki_acquire){
		.lock = dlki_upgrade_lock(lock),
		.wait = &r->wait,
		.call = r,
		.mode = DLK_EXCLUSIVE,
	};
	pthread_mutex_lock(&c->mu);
	dlki_claim_begin_upgrades(read);
	r->gate = dlki_upgrade_gate(hold);
	dlki_claim_ref(r->gate);
	rc = enter_acquire(r, op, err);
	if (rc != 0) {
		dlki_async_allow_release(r);
		dlki_claim_unref(r->gate);
		dlki_claim_end_upgrades(read);
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

static int begin_upgrade(dlock_lock *lock, dlock_hold *hold, int64_t timeout_ms,
			 dlock_done_fn done, void *arg, dlock_op *op,
			 struct dlk_error *err)
{
	struct dlki_claim *read;
	struct dlock_client *c;
	struct dlki_async *r;
	int rc = check_upgrade(lock, hold, timeout_ms, done, &read, err);

	if (rc != 0)
		return rc;
	/* The callback may release the hold, and `read` go, before the
	 * return. */
	c = read->client;
	r = dlki_async_begin(c, done, arg, err);
	if (!r)
		return err->code;
	r->wait = dlki_wait_new(lock, timeout_ms);
	r->wait.beside = read;
	return dlki_async_begun(c, r, upgrade_start(lock, hold, r, op, err));
}

int dlock_upgrade_start(dlock_lock *lock, dlock_hold *upgradeable,
			int64_t timeout_ms, dlock_done_fn done, void *arg,
			dlock_op *op)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, begin_upgrade(lock, upgradeable, timeout_ms,
						 done, arg, op, &s.err));
}

/* ---- Cancel -------------------------------------------------------------- */

/* With mu held, which may be released meanwhile. */
static int cancel_op(struct dlock_client *c, dlock_op op, struct dlk_error *err)
{
	struct dlki_async *r = dlki_slots_find(&c->asyncs.slots, op);

	if (!r || !r->acquire.lock)
		return dlk_fail(err, DLOCK_EINVAL,
				"no acquire under way has this number");
	dlki_async_allow_release(r);
	if (atomic_exchange(&r->cancels, 1) != 0)
		return 0;
	if (r->state == DLKI_ASYNC_OVER)
		return 0;
	if (r->multi)
		dlki_multi_call_rouse(r->multi);
	else
		dlki_overdue_cancelled(r);
	return 0;
}

int dlock_cancel_op(dlock_client *client, dlock_op op)
{
	struct dlki_scope s = dlki_enter();
	int rc = dlki_client_ours(client, &s.err);

	if (rc == 0) {
		pthread_mutex_lock(&client->mu);
		rc = cancel_op(client, op, &s.err);
		pthread_mutex_unlock(&client->mu);
		dlki_rousers_rouse(&client->rousers);
	}
	return dlki_leave_with(&s, rc);
}

/* ---- Release ------------------------------------------------------------- */

/* From now on the hold is the async job's. */
static int release_start(struct dlki_async *r, dlock_hold *hold,
			 struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	int rc;

	r->releasing = hold;
	pthread_mutex_lock(&c->mu);
	rc = dlki_async_reserve(c, err);
	if (rc == 0)
		rc = dlki_async_release(r, err);
	if (rc == 0)
		dlki_call_begin(c);
	pthread_mutex_unlock(&c->mu);
	return rc;
}

static int begin_release(dlock_hold *hold, dlock_done_fn done, void *arg,
			 struct dlk_error *err)
{
	const dlock_hold *one = hold;
	struct dlki_async *r;
	struct dlock_client *c;
	int rc;

	if (!hold)
		return dlk_fail(err, DLOCK_EINVAL, "hold is NULL");
	if (dlki_hold_multi(hold))
		one = dlki_multi_member(hold, 0);
	c = dlki_hold_claim(one)->client;
	r = dlki_async_begin(c, done, arg, err);
	if (!r)
		return err->code;
	if (dlki_hold_multi(hold))
		rc = dlki_multi_call_release(r, hold, err);
	else
		rc = release_start(r, hold, err);
	return dlki_async_begun(c, r, rc);
}

int dlock_release_start(dlock_hold *hold, dlock_done_fn done, void *arg)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, begin_release(hold, done, arg, &s.err));
}

/* ---- Questions ----------------------------------------------------------- */

static int ask_start(dlock_lock *lock, struct dlki_question *q,
		     dlock_done_fn done, void *arg, struct dlk_error *err)
{
	struct dlock_client *c = lock->record->client;
	struct dlki_async *r = dlki_async_begin(c, done, arg, err);
	dlk_time end;
	int rc;

	if (!r)
		return err->code;
	pthread_mutex_lock(&c->mu);
	rc = dlki_async_reserve(c, err);
	if (rc == 0) {
		r->question = q;
		end = dlki_question_begin(q, lock->record);
		dlki_call_begin(c);
		dlki_async_enter(r);
		dlki_async_ready(r);
		dlki_overdue_at(r, end);
	}
	pthread_mutex_unlock(&c->mu);
	return dlki_async_begun(c, r, rc);
}

static int begin_question(dlock_lock *lock, dlock_done_fn done,
			  struct dlki_question *q, void *arg,
			  struct dlk_error *err)
{
	int rc;

	if (!q)
		return err->code;
	if (done)
		rc = ask_start(lock, q, done, arg, err);
	else
		rc = dlk_fail(err, DLOCK_EINVAL, "done is NULL");
	if (rc != 0)
		dlki_question_end(q, rc);
	return rc;
}

int dlock_inspect_start(dlock_lock *lock,
			void (*each)(const struct dlock_participant *p,
				     void *arg),
			int64_t timeout_ms, dlock_done_fn done, void *arg)
{
	struct dlki_scope s = dlki_enter();
	int rc;

	if (each)
		rc = begin_question(lock, done,
				    dlki_question_new(lock, each, arg,
						      timeout_ms, &s.err),
				    arg, &s.err);
	else
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "each is NULL");
	return dlki_leave_with(&s, rc);
}

int dlock_break_start(dlock_lock *lock, int64_t timeout_ms, dlock_done_fn done,
		      void *arg)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(
		&s, begin_question(lock, done,
				   dlki_question_new(lock, NULL, NULL,
						     timeout_ms, &s.err),
				   arg, &s.err));
}
