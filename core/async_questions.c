/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions that begin a question. */
#include <dlock/async.h>

#include "core/async_thread.h"
#include "core/base/error.h"
#include "core/base/process.h"
#include "core/guard.h"
#include "core/inspect.h"
#include "core/overdue.h"

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
