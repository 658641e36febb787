/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing without waiting: a thread does the slow work, or in a
 * client without threads, dlock_process(). */
#include <dlock/async.h>

#include "core/async.h"
#include "core/base/error.h"
#include "core/base/process.h"
#include "core/close.h"
#include "core/guard.h"
#include "core/opening.h"

/* ---- Opening ------------------------------------------------------------- */

static void open_client(struct dlki_async *r)
{
	struct dlock_client *c = r->client;
	struct dlk_error err = { 0 };
	int rc = dlki_client_connect(c, &err);

	pthread_mutex_lock(&c->mu);
	if (rc == 0 && c->closing)
		rc = dlk_fail(&err, DLOCK_ECANCELED, "the client was closed");
	dlki_async_over(r, rc, NULL, &err);
	pthread_mutex_unlock(&c->mu);
}

static void *opener_main(void *arg)
{
	open_client(arg);
	return NULL;
}

static int start_thread(struct dlock_client *c, struct dlki_async *r)
{
	if (!c->attendant)
		return dlk_thread(&c->opener, "dlock-open", opener_main, r);
	c->open_call = r;
	dlki_due_tell(&c->asyncs.due);
	return 0;
}

/* No other thread has the client yet. */
static int start_opener(struct dlock_client *c, dlock_done_fn done, void *arg,
			struct dlk_error *err)
{
	struct dlki_async *r = dlki_async_new(c, done, arg);
	int rc;

	if (!r)
		return dlki_nomem(err);
	rc = dlki_async_reserve(c, err);
	if (rc != 0) {
		dlki_async_free(r);
		return rc;
	}
	dlki_async_enter(r);
	c->has_opener = 1;
	rc = start_thread(c, r);
	if (rc == 0)
		return 0;
	dlki_async_free(r);
	return dlki_system(err, rc, "starting a thread");
}

static int open_start(const char *uri, const dlock_options *opts,
		      dlock_client **out, dlock_done_fn done, void *arg,
		      struct dlk_error *err)
{
	struct dlock_client *c;
	int rc;

	if (!uri)
		return dlk_fail(err, DLOCK_EINVAL, "uri is NULL");
	if (!out)
		return dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	if (!done)
		return dlk_fail(err, DLOCK_EINVAL, "done is NULL");
	rc = dlki_client_make(&c, uri, opts, err);
	if (rc != 0)
		return rc;
	rc = start_opener(c, done, arg, err);
	if (rc == 0) {
		*out = c;
	} else {
		dlki_log_end(&c->log);
		dlki_client_destroy(c);
	}
	return rc;
}

int dlock_open_start(const char *uri, const dlock_options *opts,
		     dlock_client **out, dlock_done_fn done, void *arg)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s,
			       open_start(uri, opts, out, done, arg, &s.err));
}

/* ---- Closing ------------------------------------------------------------- */

static void *closer_main(void *arg)
{
	struct dlock_client *c = arg;

	pthread_mutex_lock(&c->mu);
	while (!c->closing)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
	pthread_mutex_unlock(&c->mu);
	dlki_close_run(c);
	return NULL;
}

/* With mu held. */
static int start_closer(struct dlock_client *c, struct dlki_async *r,
			struct dlk_error *err)
{
	int rc = 0;

	if (c->close_is != DLKI_CLOSE_NONE)
		return dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	if (c->attendant)
		dlki_due_tell(&c->asyncs.due);
	else
		rc = dlk_thread(&c->closer, "dlock-close", closer_main, c);
	if (rc != 0)
		return dlki_system(err, rc, "starting a thread");
	c->close_is = DLKI_CLOSE_BEGUN;
	c->close_call = r;
	if (!c->asyncs.processing)
		c->closing = 1;
	c->asyncs.pending += r->done != NULL;
	return 0;
}

/* Another thread of the program may be opening the client. */
static void end_open(struct dlock_client *c)
{
	int opens;

	pthread_mutex_lock(&c->mu);
	opens = c->opens;
	if (opens)
		atomic_store(&c->ends, 1);
	pthread_mutex_unlock(&c->mu);
	if (opens)
		dlki_rousers_rouse(&c->rousers);
}

static int close_start(dlock_client *c, dlock_done_fn done, void *arg,
		       struct dlk_error *err)
{
	struct dlki_async *r;
	int rc = dlki_client_here(c, err);

	if (rc != 0)
		return rc;
	r = dlki_async_new(c, done, arg);
	if (!r)
		return dlki_nomem(err);
	end_open(c);
	pthread_mutex_lock(&c->mu);
	rc = start_closer(c, r, err);
	pthread_mutex_unlock(&c->mu);
	if (rc != 0)
		dlki_async_free(r);
	return rc;
}

int dlock_close_start(dlock_client *client, dlock_done_fn done, void *arg)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, close_start(client, done, arg, &s.err));
}

/* ---- Without threads ----------------------------------------------------- */

void dlki_open_or_close(struct dlock_client *c)
{
	struct dlki_async *open;
	int closes;

	pthread_mutex_lock(&c->mu);
	closes = c->closing && c->close_is == DLKI_CLOSE_BEGUN;
	if (closes)
		c->close_is = DLKI_CLOSE_RUNS;
	open = closes ? NULL : c->open_call;
	if (open) {
		c->open_call = NULL;
		c->opens = 1;
	}
	pthread_mutex_unlock(&c->mu);
	if (open) {
		open_client(open);
		pthread_mutex_lock(&c->mu);
		c->opens = 0;
		pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->mu);
	}
	if (closes)
		dlki_close_run(c);
}
