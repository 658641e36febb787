/* SPDX-License-Identifier: Apache-2.0 */
#include "core/async_job.h"

#include "core/ask.h"
#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/inspect.h"
#include "core/overdue.h"
#include "core/registry.h"
#include "core/release.h"
#include "core/upgrade.h"

/* The most calls that the job runs before it waits for answers; and the most
 * that are ASKING in a client without threads. */
enum { BATCH = 64, ASKING_MOST = 256 };

/* The calls before this call may have taken all of the time. */
static void begin_wait(struct dlki_wait *w)
{
	w->begun = dlk_now();
	if (w->deadline < w->begun)
		w->deadline = w->begun;
}

/* With mu held, which is released meanwhile: DLKI_SLEEPS, DLKI_ASKS, or the
 * call's result. */
static int run_acquire(struct dlki_async *r, dlock_hold **hold,
		       struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	struct dlki_acquire *a = &r->acquire;
	int is_call, rc;

	if (!a->begun)
		begin_wait(&r->wait);
	if (r->asks) /* also after a cancel: the store may have granted */
		rc = 0;
	else if (r->asleep)
		rc = dlki_wait_resume(a->claim, &r->wait, r->sleeps_until, err);
	else if (c->closing)
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client was closed");
	else
		rc = dlki_wait_cancelled(a->claim, &r->wait, err);
	if (rc == DLKI_SLEEPS)
		return rc;
	r->asleep = 0;
	pthread_mutex_unlock(&c->mu);
	r->wait.patience.ask_ms = dlki_ask_ms(&c->ask);
	dlki_patience_begin(&r->wait.patience);
	rc = dlki_acquire_run(a, rc, hold, err);
	dlki_patience_end(&r->wait.patience);
	r->asks = rc == DLKI_ASKS;
	is_call = rc < 0;
	if (r->gate && rc != DLKI_SLEEPS && rc != DLKI_ASKS)
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

static int go_on_with_release(struct dlki_async *r, struct dlk_error *err)
{
	int rc = 0;

	if (r->acquire.lock && !r->asks)
		rc = dlki_release_begin(r->releasing, &r->last, err);
	if (rc == 0 && !r->asks)
		rc = dlki_release_go(r->releasing, r->last, r->wait.deadline,
				     &r->giving, err);
	if (!r->giving.claim)
		return rc;
	rc = dlki_release_ask(&r->giving, r, err);
	r->asks = rc == DLKI_ASKS;
	return rc;
}

/* The same for a release. */
static int run_release(struct dlki_async *r, struct dlk_error *err)
{
	struct dlki_wait *w = &r->wait;
	int gives_up = w->patience.cancels != NULL;
	int rc;

	if (gives_up) {
		w->patience.ask_ms = dlki_ask_ms(&r->client->ask);
		dlki_patience_begin(&w->patience);
	}
	rc = go_on_with_release(r, err);
	if (gives_up)
		dlki_patience_end(&w->patience);
	if (rc != DLKI_ASKS)
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

static void begin_run(struct dlki_asyncs *all, const struct dlki_async *r)
{
	const struct dlki_claim *claim = r->releasing || r->question ?
						 NULL :
						 r->acquire.claim;

	all->running_since = dlk_now();
	all->running_for = claim ? claim->record : NULL;
	all->running_turn = claim ? claim->turn : 0;
}

static void run(struct dlki_async *r, int no_wait)
{
	struct dlki_asyncs *all = &r->client->asyncs;
	struct dlk_error err = { 0 };
	dlock_hold *hold = NULL;
	int rc;

	begin_run(all, r);
	r->wait.no_wait = no_wait;
	r->in_batch = r->asks;
	if (r->releasing)
		rc = run_release(r, &err);
	else if (r->question)
		rc = run_question(r, &err);
	else
		rc = run_acquire(r, &hold, &err);
	if (rc == DLOCK_EBUSY && r->whole)
		rc = r->whole->look(r, &err);
	all->running_since = 0;
	all->running_for = NULL;
	if (rc == DLKI_SLEEPS || rc == DLKI_ASKS) {
		r->in_batch = 0;
		dlki_async_leave(r);
		return;
	}
	dlki_async_over(r, rc, hold, &err);
}

/* Run the calls that are READY, up to a batch.  A single call waits, as nothing
 * is saved.  Returns whether there may be more. */
static int run_ready(struct dlock_client *c, dlk_time *until)
{
	struct dlki_asyncs *all = &c->asyncs;
	int later = DLKI_HAS(c->backend, answers_later) && !c->closing;
	struct dlki_async *r;

	for (int i = 0; i < BATCH; i++) {
		/* dlock-loop may be late, and they have no time to ask. */
		(void)dlki_overdue_end(c);
		if (all->n_asking >= ASKING_MOST)
			return 0;
		r = dlki_async_next(c, until);
		if (!r)
			return 0;
		run(r, later && (c->attendant || all->n_asking > 0 ||
				 !dlki_asyncs_are_idle(all)));
		if (!later)
			break;
	}
	return 1;
}

/* Run a batch. */
static int run_some(struct dlki_job *job)
{
	struct dlock_client *c = DLKI_CONTAINER_OF(job, struct dlock_client,
						   asyncs.job);
	dlk_time until = DLK_FOREVER;
	struct dlki_async *r;
	int more;

	pthread_mutex_lock(&c->mu);
	c->asyncs.awake = 1;
	more = run_ready(c, &until);
	while (!c->attendant && (r = dlki_async_next_asking(c))) {
		run(r, 0);
		(void)dlki_overdue_end(c);
		more = 1;
	}
	if (!more) {
		c->asyncs.awake = 0;
		dlki_job_at(job, until);
	}
	pthread_mutex_unlock(&c->mu);
	dlki_due_flush();
	return more;
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
