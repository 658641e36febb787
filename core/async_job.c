/* SPDX-License-Identifier: Apache-2.0 */
#include "core/async_job.h"

#include "core/ask.h"
#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/inspect.h"
#include "core/overdue.h"
#include "core/release.h"
#include "core/upgrade.h"

/* With mu held, which is released meanwhile: DLKI_SLEEPS, or the call's
 * result. */
static int run_acquire(struct dlki_async *r, dlock_hold **hold,
		       struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	struct dlki_acquire *a = &r->acquire;
	int is_call, rc;

	if (!a->begun && !r->prepared)
		dlki_async_begin_wait(r);
	if (r->prepared) /* also after a cancel: the store may have granted */
		rc = 0;
	else if (r->asleep)
		rc = dlki_wait_resume(a->claim, &r->wait, r->sleeps_until, err);
	else if (c->closing)
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client was closed");
	else
		rc = dlki_wait_cancelled(a->claim, &r->wait, err);
	if (rc == DLKI_SLEEPS)
		return rc;
	r->asleep = r->prepared = 0;
	pthread_mutex_unlock(&c->mu);
	r->wait.patience.ask_ms = dlki_ask_ms(&c->ask);
	dlki_patience_begin(&r->wait.patience);
	rc = dlki_acquire_run(a, rc, hold, err);
	dlki_patience_end(&r->wait.patience);
	is_call = rc < 0;
	if (r->gate && rc != DLKI_SLEEPS)
		rc = dlki_upgrade_over(&r->wait, r->gate, rc, hold, err);
	pthread_mutex_lock(&c->mu);
	if (is_call)
		dlki_call_end(c);
	return rc;
}

/* A release waits no longer than `close` for a question. */
static void may_take_close(struct dlki_async *r)
{
	if (r->end.place == 0)
		dlki_overdue_at(r,
				dlki_after_ms(dlk_now(), r->client->close_ms));
}

int dlki_async_release(struct dlki_async *r, struct dlk_error *err)
{
	struct dlki_claim *claim = dlki_hold_claim(r->releasing);
	struct dlock_client *c = r->client;
	int rc = dlki_release_begin(r->releasing, &r->last, err);

	if (rc != 0)
		return rc;
	if (r->last)
		claim->thread = DLKI_NO_THREAD; /* no re-entry */
	dlki_async_enter(r);
	dlki_async_ready(r);
	if (c->asyncs.asks)
		may_take_close(r);
	return 0;
}

/* The same for a release. */
static int run_release(struct dlki_async *r, struct dlk_error *err)
{
	struct dlki_wait *w = &r->wait;
	int gives_up = w->patience.cancels != NULL;
	int rc = 0;

	if (gives_up) {
		w->patience.ask_ms = dlki_ask_ms(&r->client->ask);
		dlki_patience_begin(&w->patience);
	}
	if (r->acquire.lock)
		rc = dlki_release_begin(r->releasing, &r->last, err);
	if (r->prepared)
		rc = dlki_release_ask(&r->giving, err);
	else if (rc == 0)
		rc = dlki_release_end(r->releasing, r->last, w->deadline, err);
	if (gives_up)
		dlki_patience_end(&w->patience);
	dlki_call_end(r->client);
	return rc;
}

/* The same for a question.  Renewals of a client without threads wait for the
 * answer. */
static int run_question(struct dlki_async *r, struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	struct dlki_async *release;
	dlk_time latest = DLK_FOREVER;
	int rc;

	/* A release that waits, as for a callback, may have its turn soon. */
	TAILQ_FOREACH(release, &c->asyncs.releases, in_queue)
		may_take_close(release);
	c->asyncs.asks = 1;
	if (c->attendant)
		latest = dlki_after_ms(dlk_now(),
				       dlki_schedule_slack_ms(&c->schedule));
	pthread_mutex_unlock(&c->mu);
	rc = dlki_question_ask(r->question, latest, err);
	pthread_mutex_lock(&c->mu);
	c->asyncs.asks = 0;
	dlki_call_end(c);
	return rc;
}

static void run(struct dlki_async *r)
{
	struct dlki_asyncs *all = &r->client->asyncs;
	struct dlk_error err = { 0 };
	dlock_hold *hold = NULL;
	int rc;

	all->running_since = dlk_now();
	r->in_batch = r->prepared;
	if (r->releasing)
		rc = run_release(r, &err);
	else if (r->question)
		rc = run_question(r, &err);
	else
		rc = run_acquire(r, &hold, &err);
	if (rc == DLOCK_EBUSY && r->whole)
		rc = r->whole->look(r, &err);
	all->running_since = 0;
	if (rc == DLKI_SLEEPS) {
		r->in_batch = 0;
		dlki_async_leave(r);
		return;
	}
	dlki_async_over(r, rc, hold, &err);
}

/* Run a call, or a batch. */
static int run_some(struct dlki_job *job)
{
	struct dlock_client *c = DLKI_CONTAINER_OF(job, struct dlock_client,
						   asyncs.job);
	struct dlki_async *r;
	dlk_time until;
	int batch;

	pthread_mutex_lock(&c->mu);
	c->asyncs.awake = 1;
	do {
		/* dlock-loop may be late, and they have no time to ask. */
		(void)dlki_overdue_end(c);
		dlki_async_prepare(c);
		r = dlki_async_next(c, &until);
		batch = r && r->prepared;
		if (!batch)
			dlki_due_flush();
		if (r)
			run(r);
	} while (batch);
	if (!r) {
		c->asyncs.awake = 0;
		dlki_job_at(job, until);
	}
	pthread_mutex_unlock(&c->mu);
	dlki_due_flush();
	return r != NULL;
}

/* 0, or an errno value. */
static int join_job(struct dlock_client *c)
{
	struct dlki_job *job = &c->asyncs.job;
	int rc = 0;

	pthread_mutex_lock(&c->mu);
	if (!job->run) {
		job->thread = DLKI_ASYNC;
		rc = dlki_job_join(job, c->attendant);
		job->run = rc == 0 ? run_some : NULL;
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

int dlki_async_client_begin(struct dlock_client *c, struct dlk_error *err)
{
	int rc = dlki_client_begin(c, err);

	if (rc != 0)
		return rc;
	rc = join_job(c);
	if (rc == 0)
		return 0;
	dlki_client_end(c);
	return dlki_system(err, rc, "starting a thread");
}

struct dlki_async *dlki_async_begin(struct dlock_client *c, dlock_done_fn done,
				    void *arg, struct dlk_error *err)
{
	struct dlki_async *r;

	if (dlki_async_client_begin(c, err) != 0)
		return NULL;
	r = dlki_async_new(c, done, arg);
	if (!r) {
		dlki_nomem(err);
		dlki_client_end(c);
	}
	return r;
}

int dlki_async_begun(struct dlock_client *c, struct dlki_async *r, int rc)
{
	if (rc != 0)
		dlki_async_free(r);
	dlki_client_end(c);
	return rc;
}

void dlki_async_job_stop(struct dlock_client *c)
{
	dlki_job_leave(&c->asyncs.job);
}
