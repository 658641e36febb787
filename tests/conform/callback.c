/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from a callback, and asynchronous operations other than acquire and
 * release. */
#include <dlock/async.h>

#include "conform/cases.h"
#include "support/outcome.h"

enum { MANY = 1000 };

/* ---- In a callback ------------------------------------------------------- */

struct busy {
	struct conform *t;
	dlock_op op, other;
	struct outcome again, cancelled, over;
	int told, closes;
};

static void calls_everything(const struct dlock_result *r, void *arg)
{
	struct busy *b = arg;
	dlock_lock *l = NULL, *mine = NULL;
	dlock_hold *h = NULL;

	b->told++;
	CHECK_OK(r->code);
	if (b->closes)
		CHECK_OK(dlock_close_start(r->client, outcome_note, &b->over));
	CHECK_RC(dlock_process(r->client, 0), DLOCK_EDEADLK);
	CHECK_RC(dlock_process(r->client, 1), DLOCK_EDEADLK);
	CHECK_RC(dlock_wait(r->client, 0), DLOCK_EDEADLK);
	CHECK_RC(dlock_cancel_op(r->client, b->op), DLOCK_EINVAL);
	CHECK_OK(dlock_cancel_op(r->client, b->other));
	CHECK_OK(dlock_mutex_new(&mine, r->client, "in a callback"));
	CHECK_OK(dlock_acquire(mine, patience_ms(), &h));
	give(h);
	dlock_lock_free(mine);
	CHECK_OK(dlock_mutex_new(&l, r->client, b->t->name));
	CHECK_OK(dlock_lock_unbind(l));
	CHECK_RC(ask_for(l, 0, 0, &h), DLOCK_EBUSY);
	dlock_lock_free(l);
	give(r->hold);
	dlock_close(r->client); /* no effect in a callback */
	CHECK_INT(stats_of(r->client).holds, ==, 0);
	if (!b->closes)
		ask_async(&b->again, b->t->lock, -1);
}

/* `c` has no other waiting call. */
static void begin_busy(struct conform *t, struct busy *b, dlock_client *c)
{
	dlock_lock *other = any_lock(t, c, MUTEX, 0, "loop other");

	b->t = t;
	CHECK_OK(dlock_lock_unbind(other));
	b->other = ask_async(&b->cancelled, other, -1);
	await_waiters(t, 1);
	CHECK_OK(dlock_acquire_start(t->lock, -1, calls_everything, b, &b->op));
}

void case_callback_may_call(struct conform *t)
{
	struct busy b = { 0 };
	dlock_hold *h;

	use_unbound(t);
	h = take(any_lock(t, another_client(t, NULL, NULL), MUTEX, 0,
			  "loop other"));
	begin_busy(t, &b, t->client);
	CHECK_INT(outcome_of(&b.again), ==, DLOCK_OK);
	CHECK_RC(outcome_of(&b.cancelled), DLOCK_ECANCELED);
	CHECK_INT(b.told, ==, 1);
	give(b.again.hold);
	give(h);
	is_free(t->lock);
}

void case_callback_closes(struct conform *t)
{
	struct busy b = { .closes = 1 };
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_hold *h;

	use_unbound(t);
	t->lock = unbound(t, c);
	h = take(any_lock(t, t->client, MUTEX, 0, "loop other"));
	begin_busy(t, &b, c);
	forget_client(t, c);
	while (atomic_load(&b.over.calls) == 0)
		CHECK_OK(dlock_wait(c, patience_ms()));
	CHECK_INT(b.told, ==, 1);
	CHECK_RC(b.cancelled.rc, DLOCK_ECANCELED);
	CHECK_INT(b.cancelled.order, <, b.over.order);
	give(h);
}

/* Free the handle in the handle's own callback. */
static void frees(const struct dlock_result *r, void *arg)
{
	dlock_lock **l = arg;

	CHECK_OK(r->code);
	dlock_lock_free(*l);
	*l = NULL;
	CHECK_OK(dlock_release_start(r->hold, NULL, NULL));
}

void case_callback_frees(struct conform *t)
{
	dlock_lock *l = NULL;

	use_unbound(t);
	CHECK_OK(dlock_mutex_new(&l, t->client, t->name));
	CHECK_OK(dlock_lock_unbind(l));
	CHECK_OK(dlock_acquire_start(l, -1, frees, &l, NULL));
	CHECK_OK(dlock_wait(t->client, patience_ms()));
	CHECK(l == NULL);
	/* No callback tells when the release arrives. */
	give(take(t->lock));
}

/* ---- Very many ----------------------------------------------------------- */

void case_many_at_close(struct conform *t)
{
	static struct outcome o[MANY];
	struct outcome over = { 0 };
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	use_unbound(t);
	h = take(t->lock);
	c = another_client(t, "close=10s", NULL);
	l = unbound(t, c);
	for (int i = 0; i < MANY; i++)
		ask_async(&o[i], l, -1);
	CHECK_INT(dlock_pending(c), ==, MANY);
	forget_client(t, c);
	CHECK_OK(dlock_close_start(c, outcome_note, &over));
	CHECK_RC(dlock_close_start(c, NULL, NULL), DLOCK_ECANCELED);
	CHECK_RC(dlock_acquire_start(l, 0, outcome_note, &over, NULL),
		 DLOCK_ECANCELED);
	while (atomic_load(&over.calls) == 0)
		CHECK_OK(dlock_wait(c, patience_ms()));
	CHECK_INT(outcomes_called(o, MANY), ==, MANY);
	for (int i = 0; i < MANY; i++) {
		CHECK_RC(o[i].rc, DLOCK_ECANCELED);
		CHECK_INT(o[i].order, <, over.order);
	}
	give(h);
	is_free(t->lock);
}

/* ---- Questions and events ------------------------------------------------ */

struct seen {
	struct outcome o; /* first: both callbacks get the same argument */
	int n;
};

static void note_participant(const struct dlock_participant *p, void *arg)
{
	struct seen *seen = arg;

	CHECK(p->label && p->label[0]);
	CHECK_INT(atomic_load(&seen->o.calls), ==, 0);
	seen->n++;
}

void case_begun_inspect(struct conform *t)
{
	struct seen seen = { .n = 0 };
	dlock_hold *h;

	use_mutex(t);
	h = take(t->lock);
	CHECK_OK(dlock_inspect_start(t->lock, note_participant, patience_ms(),
				     outcome_note, &seen));
	CHECK_INT(dlock_pending(t->client), ==, 1);
	CHECK_OK(outcome_of(&seen.o));
	CHECK_INT(seen.n, ==, 1);
	give(h);
	CHECK_RC(dlock_inspect_start(t->lock, NULL, 0, outcome_note, &seen),
		 DLOCK_EINVAL);
	CHECK_RC(dlock_inspect_start(t->lock, note_participant, 0, NULL, &seen),
		 DLOCK_EINVAL);
}

void case_begun_break(struct conform *t)
{
	struct outcome o = { 0 }, got = { 0 };
	dlock_lock *other;
	dlock_hold *h;

	needs_break(t);
	use_unbound(t);
	other = unbound(t, another_client(t, SHORT_LEASE, NULL));
	h = take(other);
	ask_async(&got, t->lock, -1);
	CHECK_OK(dlock_break_start(t->lock, patience_ms(), outcome_note, &o));
	CHECK_OK(outcome_of(&o));
	CHECK_OK(outcome_of(&got));
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	give(got.hold);
}

struct heard {
	pthread_t thread;
	atomic_int lost;
};

static void hears(dlock_hold *h, enum dlock_event event, const char *why,
		  void *arg)
{
	struct heard *heard = arg;

	(void)h, (void)why;
	heard->thread = pthread_self();
	atomic_fetch_add(&heard->lost, event == DLOCK_LOST);
}

void case_loop_events(struct conform *t)
{
	struct heard heard = { .lost = 0 };
	dlock_options opts = DLOCK_OPTIONS_INIT;
	dlock_client *c;
	dlock_hold *h;

	needs_break(t);
	use_mutex(t);
	opts.on_event = hears;
	opts.arg = &heard;
	c = another_client(t, SHORT_LEASE, &opts);
	CHECK_OK(dlock_events_by_process(c));
	h = take(handle(t, c));
	CHECK_OK(dlock_break(t->lock, patience_ms()));
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK(is_readable(dlock_client_fd(c), patience_ms()));
	CHECK_INT(atomic_load(&heard.lost), ==, 0);
	CHECK_OK(dlock_wait(c, patience_ms()));
	EVENTUALLY(dlock_process(c, 0) == 0 && atomic_load(&heard.lost) == 1);
	CHECK(pthread_equal(heard.thread, pthread_self()));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

/* ---- Opening and closing ------------------------------------------------- */

static void use_opened(struct conform *t, dlock_client *c)
{
	struct outcome o = { 0 };
	dlock_lock *l = NULL;

	CHECK_INT(dlock_caps(c), ==, t->caps);
	CHECK_OK(dlock_mutex_new(&l, c, t->name));
	CHECK_OK(dlock_lock_unbind(l));
	ask_async(&o, l, -1);
	CHECK_OK(dlock_wait(c, patience_ms()));
	CHECK_OK(o.rc);
	give(o.hold);
	dlock_lock_free(l);
}

void case_begun_open(struct conform *t)
{
	struct outcome opened = { 0 }, over = { 0 };
	dlock_client *c = NULL;
	int fd;

	CHECK_RC(dlock_open_start("no-such-scheme:", NULL, &c, outcome_note,
				  &opened),
		 DLOCK_EINVAL);
	CHECK(c == NULL);
	CHECK_OK(dlock_open_start(t->uri, NULL, &c, outcome_note, &opened));
	fd = dlock_client_fd(c);
	CHECK(is_readable(fd, patience_ms()));
	CHECK_INT(outcomes_called(&opened, 1), ==, 0);
	CHECK_INT(dlock_process(c, 0), ==, 0);
	CHECK_INT(outcomes_called(&opened, 1), ==, 1);
	CHECK_OK(opened.rc);
	CHECK(opened.client == c);
	use_opened(t, c);
	CHECK_OK(dlock_close_start(c, outcome_note, &over));
	CHECK(is_readable(fd, patience_ms()));
	while (atomic_load(&over.calls) == 0)
		CHECK_OK(dlock_wait(c, patience_ms()));
	CHECK_OK(over.rc);
}

/* Close at any stage of the open, in either way. */
void case_begun_open_and_close(struct conform *t)
{
	for (int i = 0; i < 12; i++) {
		struct outcome opened = { 0 }, over = { 0 };
		dlock_client *c = NULL;

		CHECK_OK(dlock_open_start(t->uri, NULL, &c, outcome_note,
					  &opened));
		nap_us(i / 2 * 300);
		if (i % 2) {
			dlock_close(c);
		} else {
			CHECK_OK(dlock_close_start(c, outcome_note, &over));
			while (atomic_load(&over.calls) == 0)
				CHECK_OK(dlock_wait(c, patience_ms()));
			CHECK_INT(opened.order, <, over.order);
		}
		CHECK_INT(outcomes_called(&opened, 1), ==, 1);
		CHECK(opened.rc == DLOCK_OK || opened.rc == DLOCK_ECANCELED);
	}
}
