/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions for the loop of a program. */
#include <dlock/async.h>
#include <errno.h>
#include <poll.h>

#include "core/async_process.h"
#include "core/base/attendant.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/process.h"
#include "core/close.h"
#include "core/guard.h"
#include "core/wait.h"

static int client_fd(struct dlock_client *c, struct dlk_error *err)
{
	int fd = c->attendant ? c->attendant->outer_fd :
				dlki_due_fd(&c->asyncs.due);

	return fd >= 0 ? fd : dlki_system(err, errno, "eventfd");
}

int dlock_client_fd(dlock_client *client)
{
	struct dlki_scope s = dlki_enter();
	int rc = dlki_client_here(client, &s.err);

	if (rc == 0)
		rc = client_fd(client, &s.err);
	return dlki_leave_with(&s, rc);
}

static int64_t ms_of(dlk_time ns)
{
	return ns > 0 ? (ns + DLK_MS - 1) / DLK_MS : 0;
}

static int64_t due_ms(struct dlock_client *c)
{
	dlk_time at = DLK_FOREVER;

	if (dlki_process_is_due(c))
		return 0;
	if (c->attendant)
		at = dlki_attendant_due(c->attendant);
	return at == DLK_FOREVER ? -1 : ms_of(at - dlk_now());
}

/* Call the callbacks.  The client is gone after DLKI_PROCESS_LAST. */
static int call_back(struct dlock_client *c, int most, unsigned int waits,
		     size_t *done, struct dlk_error *err)
{
	int rc = dlki_process_due(c, most, waits, done, err);

	if (rc == DLKI_PROCESS_LAST)
		dlki_close_finish(c);
	return rc;
}

/* The same, and the work of dlock's threads, unless another thread finishes the
 * close, which waits for this thread. */
static int attend(struct dlock_client *c, int most, unsigned int waits,
		  size_t *done, struct dlk_error *err)
{
	int ended, rc;

	pthread_mutex_lock(&c->mu);
	ended = c->asyncs.ended;
	c->asyncs.attending++;
	pthread_mutex_unlock(&c->mu);
	if (!ended) {
		dlki_attend(c->attendant);
		dlki_open_or_close(c);
	}
	rc = call_back(c, most, waits, done, err);
	if (rc == DLKI_PROCESS_LAST)
		return rc;
	if (rc == 0)
		rc = due_ms(c) == 0;
	pthread_mutex_lock(&c->mu);
	c->asyncs.attending--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mu); /* the client may go now */
	return rc;
}

/* `waits`: this thread is in dlock_wait(). */
static int process(struct dlock_client *c, int most, unsigned int waits,
		   size_t *done, struct dlk_error *err)
{
	if (c->attendant && !dlki_process_here(c))
		return attend(c, most, waits, done, err);
	return call_back(c, most, waits, done, err);
}

int dlock_process(dlock_client *client, int most)
{
	struct dlki_scope s = dlki_enter();
	int rc = dlki_client_here(client, &s.err);
	size_t done;

	if (rc == 0)
		rc = process(client, most, 0, &done, &s.err);
	return dlki_leave_with(&s, rc == DLKI_PROCESS_LAST ? 0 : rc);
}

/* 0 when no callback is due in time, or before the next look at the clock. */
static int await_due(struct dlock_client *c, int fd, dlk_time until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do {
		int ms = until == DLK_FOREVER ?
				 -1 :
				 (int)ms_of(dlki_sleep_ns(until));

		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n > 0 || dlki_process_is_due(c);
}

/* DLKI_PROCESS_LAST; 0 after another callback; or an error. */
static int wait_until(struct dlock_client *c, int fd, dlk_time until,
		      struct dlk_error *err)
{
	size_t done;
	int rc = 0;

	while (rc >= 0) {
		int due = await_due(c, fd, until);

		rc = process(c, 0, 1, &done, err);
		if (rc == DLKI_PROCESS_LAST || done > 0)
			return rc == DLKI_PROCESS_LAST ? rc : 0;
		if (rc == DLOCK_EBUSY) {
			dlki_process_await(c, until);
			due = rc = 0;
		}
		if (rc >= 0 && !due && dlk_now() >= until)
			rc = dlk_fail(err, DLOCK_EBUSY, "nothing came in time");
	}
	return rc;
}

static int wait_for(struct dlock_client *c, int64_t timeout_ms,
		    struct dlk_error *err)
{
	dlk_time until = timeout_ms < 0 ? DLK_FOREVER :
					  dlki_deadline(timeout_ms);
	int fd = client_fd(c, err);
	int rc = fd < 0 ? fd : 0;

	if (rc == 0 && dlki_process_here(c))
		rc = dlk_fail(err, DLOCK_EDEADLK,
			      "this is a callback of dlock_process()");
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	c->asyncs.waits++;
	pthread_mutex_unlock(&c->mu);
	rc = wait_until(c, fd, until, err);
	if (rc == DLKI_PROCESS_LAST)
		return 0;
	pthread_mutex_lock(&c->mu);
	c->asyncs.waits--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mu); /* the client may go now */
	return rc;
}

int dlock_wait(dlock_client *client, int64_t timeout_ms)
{
	struct dlki_scope s = dlki_enter();
	int rc = dlki_client_here(client, &s.err);

	if (rc == 0)
		rc = dlki_timeout_check(timeout_ms, &s.err);
	if (rc == 0)
		rc = wait_for(client, timeout_ms, &s.err);
	return dlki_leave_with(&s, rc);
}

int64_t dlock_due_ms(const dlock_client *client)
{
	struct dlki_scope s = dlki_enter();
	int64_t due = -1;

	if (dlki_client_here(client, NULL) == 0)
		due = due_ms((struct dlock_client *)client);
	dlki_leave(&s);
	return due;
}

/* Async-signal-safe, so without a message. */
int dlock_nudge(dlock_client *client)
{
	struct dlki_scope s = dlki_enter();
	int rc = dlki_client_here(client, NULL);

	if (rc == 0)
		dlki_due_nudge(&client->asyncs.due);
	dlki_leave(&s);
	return rc;
}

size_t dlock_pending(const dlock_client *client)
{
	struct dlki_scope s = dlki_enter();
	struct dlock_client *c = (struct dlock_client *)client;
	size_t n = 0;

	if (dlki_client_here(c, NULL) == 0) {
		pthread_mutex_lock(&c->mu);
		n = c->asyncs.pending;
		pthread_mutex_unlock(&c->mu);
	}
	dlki_leave(&s);
	return n;
}

int dlock_events_by_process(dlock_client *client)
{
	struct dlki_scope s = dlki_enter();
	int rc = dlki_client_here(client, &s.err);

	if (rc == 0) {
		pthread_mutex_lock(&client->mu);
		dlki_events_by_process(client);
		pthread_mutex_unlock(&client->mu);
		dlki_log_by_process(&client->log, &client->asyncs.due);
	}
	return dlki_leave_with(&s, rc);
}
