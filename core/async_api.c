/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions that do not wait. */
#include <dlock/async.h>

#include "core/base/error.h"
#include "core/base/process.h"
#include "core/guard.h"
#include "core/overdue.h"
#include "core/release.h"
#include "core/async_thread.h"

static int leave_with(struct dlki_scope scope, int rc,
		      const struct dlk_error *err)
{
	if (rc < 0)
		dlki_report(err);
	dlki_leave(scope);
	return rc;
}

static int fail_multi(struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ENOTSUP,
			"a multi-lock cannot be asked for asynchronously: ask "
			"for its members");
}

/* One that can be entered: the threads are there that run it and call back.
 * NULL: see err. */
static struct dlock_async *prepare(struct dlock_client *c, dlock_done_fn done,
				   void *arg, struct dlk_error *err)
{
	struct dlock_async *r;

	if (dlki_async_thread_start(c, err) != 0 ||
	    dlki_events_thread(c, err) != 0)
		return NULL;
	r = dlki_async_new(c, done, arg);
	if (!r)
		dlki_nomem(err);
	return r;
}

/* ---- Acquire ------------------------------------------------------------- */

static int check_acquire(const dlock_lock *lock, enum dlk_mode mode,
			 dlock_done_fn done, struct dlk_error *err)
{
	if (!lock)
		return dlk_fail(err, DLOCK_EINVAL, "lock is NULL");
	if (!done)
		return dlk_fail(err, DLOCK_EINVAL, "done is NULL");
	if (lock->multi)
		return fail_multi(err);
	if (mode == DLK_SHARED && !lock->has_read_side)
		return dlk_fail(err, DLOCK_EINVAL,
				"only a read-write lock has a read side");
	return 0;
}

/* With mu held: it is over, or the async thread's. */
static int enter_acquire(struct dlock_async *r, struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	dlock_hold *hold = NULL;
	int rc = dlki_async_reserve(c, err);

	if (rc == 0)
		rc = dlki_acquire_begin(&r->acquire, &hold, err);
	if (rc != 0)
		return rc;
	dlki_async_enter(r);
	if (r->acquire.claim) {
		dlki_overdue_begin(r);
		return 0;
	}
	hold->claim->undelivered = 1;
	dlki_async_over(r, 0, hold, err);
	dlki_event_done(r);
	return 0;
}

static int acquire_async(dlock_lock *lock, enum dlk_mode mode,
			 int64_t timeout_ms, struct dlock_async *r,
			 struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	int rc;

	r->wait = dlki_wait_new(lock, timeout_ms);
	r->wait.patience.own = &r->cancels;
	r->acquire = (struct dlki_acquire){
		.lock = lock,
		.wait = &r->wait,
		.call = r,
		.mode = lock->record->kind == DLK_SEMAPHORE ? DLK_SHARED : mode,
	};
	pthread_mutex_lock(&c->mu);
	rc = enter_acquire(r, err);
	pthread_mutex_unlock(&c->mu);
	return rc;
}

static int begin_acquire(dlock_lock *lock, enum dlk_mode mode,
			 int64_t timeout_ms, dlock_done_fn done, void *arg,
			 dlock_async **out, struct dlk_error *err)
{
	struct dlock_async *r;
	struct dlock_client *c;
	int rc = check_acquire(lock, mode, done, err);

	if (rc == 0)
		rc = dlki_timeout_check(timeout_ms, err);
	if (rc != 0)
		return rc;
	c = lock->record->client;
	rc = dlki_client_begin(c, err);
	if (rc != 0)
		return rc;
	r = prepare(c, done, arg, err);
	rc = r ? acquire_async(lock, mode, timeout_ms, r, err) : err->code;
	if (rc == 0 && out)
		*out = r;
	else if (r)
		dlki_async_unref(r);
	dlki_client_end(c);
	return rc;
}

int dlock_acquire_async(dlock_lock *lock, int64_t timeout_ms,
			dlock_done_fn done, void *arg, dlock_async **out)
{
	struct dlki_scope scope = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = begin_acquire(lock, DLK_EXCLUSIVE, timeout_ms, done, arg, out,
			       &err);

	return leave_with(scope, rc, &err);
}

int dlock_acquire_shared_async(dlock_lock *lock, int64_t timeout_ms,
			       dlock_done_fn done, void *arg, dlock_async **out)
{
	struct dlki_scope scope = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = begin_acquire(lock, DLK_SHARED, timeout_ms, done, arg, out,
			       &err);

	return leave_with(scope, rc, &err);
}

/* Once it is over, its client may be gone. */
void dlock_async_cancel(dlock_async *r)
{
	struct dlki_scope scope = dlki_enter();
	struct dlock_client *c;

	if (!r || atomic_load(&r->over) ||
	    dlki_client_ours(r->client, NULL) != 0)
		goto out;
	c = r->client;
	pthread_mutex_lock(&c->mu);
	if (r->state != DLKI_ASYNC_OVER) {
		atomic_store(&r->cancels, 1);
		dlki_overdue_cancelled(r);
		if (r->acquire.claim && r->asleep)
			r->acquire.claim->cancelled = 1;
		dlki_async_rouse(r);
	}
	pthread_mutex_unlock(&c->mu);
out:
	dlki_leave(scope);
}

void dlock_async_free(dlock_async *r)
{
	struct dlki_scope scope = dlki_enter();

	if (r)
		dlki_async_unref(r);
	dlki_leave(scope);
}

/* ---- Release ------------------------------------------------------------- */

/* With mu held: from now on the hold is the async thread's. */
static int enter_release(struct dlock_async *r, struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	dlock_hold *hold = r->releasing;
	int rc = dlki_may_release(hold, err);

	if (rc == 0)
		rc = dlki_async_reserve(c, err);
	if (rc != 0)
		return rc;
	r->last = dlki_release_begin(hold);
	if (r->last)
		hold->claim->thread = DLKI_NO_THREAD; /* no re-entry */
	dlki_call_begin(c);
	dlki_async_enter(r);
	return 0;
}

static int begin_release(dlock_hold *hold, dlock_done_fn done, void *arg,
			 struct dlk_error *err)
{
	struct dlock_async *r;
	struct dlock_client *c;
	int rc;

	if (!hold)
		return dlk_fail(err, DLOCK_EINVAL, "hold is NULL");
	if (hold->multi)
		return fail_multi(err);
	c = hold->claim->client;
	rc = dlki_client_begin(c, err);
	if (rc != 0)
		return rc;
	r = prepare(c, done, arg, err);
	if (!r)
		rc = err->code;
	if (r) {
		r->releasing = hold;
		pthread_mutex_lock(&c->mu);
		rc = enter_release(r, err);
		pthread_mutex_unlock(&c->mu);
		dlki_async_unref(r);
	}
	dlki_client_end(c);
	return rc;
}

int dlock_release_async(dlock_hold *hold, dlock_done_fn done, void *arg)
{
	struct dlki_scope scope = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = begin_release(hold, done, arg, &err);

	return leave_with(scope, rc, &err);
}

/* ---- The program's own loop ---------------------------------------------- */

static int check_loop(const struct dlock_client *c, struct dlk_error *err)
{
	int rc;

	if (!c)
		return dlk_fail(err, DLOCK_EINVAL, "client is NULL");
	rc = dlki_client_ours(c, err);
	if (rc == 0 && !c->events.own_loop)
		rc = dlk_fail(err, DLOCK_EINVAL,
			      "the client has a thread for its callbacks: open "
			      "it with dlock_options.own_loop");
	return rc;
}

int dlock_fd(dlock_client *client)
{
	struct dlki_scope scope = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = check_loop(client, &err);

	if (rc == 0)
		rc = client->events.fd;
	return leave_with(scope, rc, &err);
}

int dlock_dispatch(dlock_client *client)
{
	struct dlki_scope scope = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = check_loop(client, &err);

	if (rc == 0)
		rc = dlki_client_begin(client, &err);
	if (rc == 0) {
		dlki_events_dispatch(client);
		dlki_client_end(client);
	}
	return leave_with(scope, rc, &err);
}
