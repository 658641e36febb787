/* SPDX-License-Identifier: Apache-2.0 */
#include "core/async_process.h"

#include "core/async.h"
#include "core/guard.h"
#include "core/inspect.h"
#include "core/multi_call.h"

static _Thread_local const struct dlki_frame *frames;

int dlki_process_here(const struct dlock_client *c)
{
	return dlki_frames_have(frames, c);
}

/* ---- A callback ---------------------------------------------------------- */

/* Without mu: call the callback, and free the call. */
static void call_back(struct dlki_async *r)
{
	const struct dlock_result result = {
		.size = sizeof(result),
		.code = r->rc < 0 ? r->rc : DLOCK_OK,
		.client = r->client,
		.hold = r->hold,
		.message = r->text ? r->text : dlock_strerror(r->rc),
	};

	if (r->question)
		dlki_question_end(r->question, r->rc);
	if (r->done)
		r->done(&result, r->arg);
	dlki_async_free(r);
}

/* With mu held: the call hands out the hold of a multi-lock. */
static void call_multi(struct dlki_async *r)
{
	struct dlock_client *c = r->client;
	struct dlki_multi_call *multi = r->multi;

	pthread_mutex_unlock(&c->mu);
	dlki_multi_parts_hand_out(multi, r->hold);
	r->multi = NULL;
	call_back(r);
	dlki_multi_parts_handed_out(multi);
	pthread_mutex_lock(&c->mu);
}

/* With mu held.  The hold may have been released, and passed on, when the
 * callback returns. */
static int call_over(struct dlock_client *c)
{
	struct dlki_async *r = dlki_async_take(c);
	struct dlki_claim *claim;

	if (!r)
		return 0;
	if (r->hold && dlki_hold_multi(r->hold)) {
		call_multi(r);
		return 1;
	}
	claim = r->hold ? dlki_hold_claim(r->hold) : NULL;
	if (claim) {
		claim->undelivered = DLKI_HANDING_OUT;
		dlki_claim_ref(claim);
	}
	pthread_mutex_unlock(&c->mu);
	call_back(r);
	pthread_mutex_lock(&c->mu);
	if (claim) {
		dlki_event_handed_out(claim);
		dlki_claim_unref(claim);
	}
	return 1;
}

static int call_event(struct dlock_client *c)
{
	return c->events.by_process && dlki_events_call(c);
}

static int call_sink(struct dlock_client *c)
{
	int told;

	if (dlki_log_due(&c->log) == 0)
		return 0;
	pthread_mutex_unlock(&c->mu);
	told = dlki_log_tell(&c->log);
	pthread_mutex_lock(&c->mu);
	return told;
}

/* With mu held.  In turn, so that no kind starves behind a kind that comes
 * faster than it is processed. */
static int call_next(struct dlock_client *c)
{
	static int (*const kinds[])(
		struct dlock_client *) = { call_over, call_event, call_sink };
	const unsigned int n = sizeof(kinds) / sizeof(kinds[0]);

	for (unsigned int i = 0; i < n; i++) {
		if (kinds[c->asyncs.turn++ % n](c))
			return 1;
	}
	return 0;
}

/* Is a thread that processes to finish the close? */
static int is_end_due(const struct dlock_client *c)
{
	return c->close_is == DLKI_CLOSE_ENDS && !c->asyncs.ended;
}

/* Is a thread that attends to open the client, or to close it? */
static int is_begun(const struct dlock_client *c)
{
	return c->open_call ||
	       (c->attendant && c->closing && c->close_is == DLKI_CLOSE_BEGUN);
}

static size_t count_due(const struct dlock_client *c)
{
	size_t events = c->events.by_process ? c->events.n : 0;

	return c->asyncs.n_over + events + dlki_log_due(&c->log) +
	       (size_t)is_end_due(c);
}

/* ---- Many ---------------------------------------------------------------- */

/* With mu held: the calling-back thread. */
static void enter(struct dlki_frame *frame, struct dlock_client *c)
{
	c->asyncs.processing = 1;
	*frame = (struct dlki_frame){ .client = c, .outer = frames };
	frames = frame;
}

static void leave(const struct dlki_frame *frame, struct dlock_client *c)
{
	frames = frame->outer;
	c->asyncs.processing = 0;
	if (c->close_is == DLKI_CLOSE_BEGUN)
		c->closing = 1;
	pthread_cond_broadcast(&c->changed);
}

/* With mu held. */
static int may_enter(struct dlock_client *c, unsigned int waits,
		     struct dlk_error *err)
{
	int rc = 0;

	if (waits && c->asyncs.ended)
		return dlk_fail(err, DLOCK_ECANCELED, "the client was closed");
	if (dlki_process_here(c))
		rc = dlk_fail(err, DLOCK_EDEADLK,
			      "this is a callback of dlock_process()");
	else if (c->asyncs.processing)
		rc = dlk_fail(err, DLOCK_EBUSY,
			      "another thread is in dlock_process()");
	c->asyncs.refused |= rc != 0;
	return rc;
}

/* With mu held.  A refused call may have had the edge of what came due
 * meanwhile: there is another edge, whether work is left or not. */
static void tell_rest(struct dlki_asyncs *all, int is_left)
{
	if (all->refused)
		dlki_due_tell_again(&all->due);
	else if (is_left)
		dlki_due_tell(&all->due);
	all->refused = 0;
}

/* The descriptor stays readable, as no thread processes beside this thread. */
void dlki_process_end_waits(struct dlock_client *c, unsigned int waits,
			    unsigned int attends)
{
	c->asyncs.ended = 1;
	dlki_due_tell(&c->asyncs.due);
	pthread_cond_broadcast(&c->changed);
	while (c->asyncs.waits > waits || c->asyncs.attending > attends)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
}

int dlki_process_due(struct dlock_client *c, int most, unsigned int waits,
		     size_t *done, struct dlk_error *err)
{
	struct dlki_frame frame;
	size_t n, k = 0;
	int rc;

	*done = 0;
	pthread_mutex_lock(&c->mu);
	rc = may_enter(c, waits, err);
	if (rc != 0) {
		pthread_mutex_unlock(&c->mu);
		return rc;
	}
	enter(&frame, c);
	*done = dlki_due_take(&c->asyncs.due) != 0;
	n = most > 0 ? (size_t)most : count_due(c);
	while (k < n && call_next(c))
		k++;
	*done += k;
	rc = count_due(c) > 0 || atomic_load(&c->asyncs.due.nudged);
	if (is_end_due(c) && count_due(c) == 1 && k < n) {
		dlki_process_end_waits(c, waits, c->attendant != NULL);
		rc = DLKI_PROCESS_LAST;
		frames = frame.outer;
	} else {
		leave(&frame, c);
		tell_rest(&c->asyncs, rc);
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

int dlki_process_is_due(struct dlock_client *c)
{
	size_t n;

	pthread_mutex_lock(&c->mu);
	n = count_due(c) + (size_t)is_begun(c);
	pthread_mutex_unlock(&c->mu);
	return n > 0 || atomic_load(&c->asyncs.due.nudged);
}

void dlki_process_await(struct dlock_client *c, dlk_time until)
{
	pthread_mutex_lock(&c->mu);
	if (c->asyncs.processing && !c->asyncs.ended)
		dlki_client_sleep(c, until);
	pthread_mutex_unlock(&c->mu);
}

/* The thread still processes: no other may take the end off the descriptor. */
void dlki_process_rest(struct dlock_client *c, struct dlki_async *last)
{
	const struct dlki_frame frame = { .client = c, .outer = frames };

	frames = &frame;
	pthread_mutex_lock(&c->mu);
	while (call_over(c))
		continue;
	pthread_mutex_unlock(&c->mu);
	if (c->log.due)
		dlki_log_end(&c->log);
	if (last)
		call_back(last);
	frames = frame.outer;
	pthread_mutex_lock(&c->mu);
	c->close_is = DLKI_CLOSE_OVER;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mu);
}
