/* SPDX-License-Identifier: Apache-2.0 */
/* Clients without threads, from open to close: this thread does the work. */
#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conform/cases.h"
#include "support/outcome.h"

enum { FEW = 5 };

dlock_client *no_threads_client(struct conform *t, const char *params)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.no_threads = 1;
	return another_client(t, params, &o);
}

static struct census now(void)
{
	struct census c;

	census_take(&c);
	return c;
}

static void await(dlock_client *c, struct outcome *o)
{
	while (atomic_load(&o->calls) == 0)
		CHECK_OK(dlock_wait(c, patience_ms()));
}

/* Wait for an outcome with a hold or an error.  A store need not grant in
 * turn. */
static struct outcome *await_one(dlock_client *c, struct outcome got[FEW])
{
	for (;;) {
		for (int i = 0; i < FEW; i++) {
			if (got[i].hold || got[i].rc != DLOCK_OK)
				return &got[i];
		}
		CHECK_OK(dlock_wait(c, patience_ms()));
	}
}

static dlock_client *opened_by_process(const struct conform *t)
{
	struct outcome opened = { 0 };
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;

	o.no_threads = 1;
	CHECK_OK(dlock_open_start(t->uri, &o, &c, outcome_note, &opened));
	await(c, &opened);
	CHECK_OK(opened.rc);
	return c;
}

/* ---- From open to close -------------------------------------------------- */

void case_no_threads_at_all(struct conform *t)
{
	struct outcome got[FEW] = { 0 }, over = { 0 };
	struct census before;
	dlock_client *c;
	dlock_lock *l;

	/* The case's other client may still have an extra thread. */
	EVENTUALLY(census_threads("dlock-work") <= 1);
	before = now();
	c = opened_by_process(t);
	CHECK_OK(dlock_mutex_new(&l, c, t->name));
	CHECK_OK(dlock_lock_unbind(l));
	for (int i = 0; i < FEW; i++)
		ask_async(&got[i], l, -1);
	for (int i = 0; i < FEW; i++) {
		struct outcome *o = await_one(c, got), given = { 0 };

		CHECK_OK(o->rc);
		give_async(&given, o->hold);
		o->hold = NULL;
		await(c, &given);
		CHECK_OK(given.rc);
	}
	CHECK_INT(now().threads, ==, before.threads);
	dlock_lock_free(l);
	CHECK_OK(dlock_close_start(c, outcome_note, &over));
	await(c, &over);
	CHECK_OK(over.rc);
	CHECK_INT(now().threads, ==, before.threads);
}

/* How many descriptors a client has more than `before`. */
static int descriptors(const struct census *before)
{
	return now().fds - before->fds;
}

/* Two epoll sets, a timer and two eventfds at most: docs/threading.md. */
void case_no_threads_descriptors(struct conform *t)
{
	struct census before = now();
	dlock_client *c;
	int usual;

	c = another_client(t, NULL, NULL);
	usual = descriptors(&before);
	close_client(t, c);
	EVENTUALLY(descriptors(&before) == 0);
	c = no_threads_client(t, NULL);
	CHECK_INT(descriptors(&before), <=, usual + 5);
}

/* No dlock_process() comes between. */
void case_no_threads_closed_at_once(struct conform *t)
{
	struct outcome opened = { 0 }, got[FEW] = { 0 };
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;
	dlock_lock *l;

	o.no_threads = 1;
	CHECK_OK(dlock_open_start(t->uri, &o, &c, outcome_note, &opened));
	dlock_close(c);
	CHECK_INT(atomic_load(&opened.calls), ==, 1);
	CHECK_RC(opened.rc, DLOCK_ECANCELED);

	use_mutex(t);
	c = no_threads_client(t, NULL);
	l = unbound(t, c);
	for (int i = 0; i < FEW; i++)
		ask_async(&got[i], l, -1);
	close_client(t, c);
	for (int i = 0; i < FEW; i++) {
		CHECK_INT(atomic_load(&got[i].calls), ==, 1);
		CHECK_RC(got[i].rc, DLOCK_ECANCELED);
	}
	is_free(t->lock);
}

/* The client was opened in dlock_process(), and calls wait. */
void case_no_threads_closed_with_waits(struct conform *t)
{
	dlock_client *c = opened_by_process(t);
	struct outcome got = { 0 };
	dlock_lock *l;
	dlock_hold *h;

	use_mutex(t);
	h = take(t->lock);
	CHECK_OK(dlock_mutex_new(&l, c, t->name));
	CHECK_OK(dlock_lock_unbind(l));
	ask_async(&got, l, -1);
	while (stats_of(c).waiters == 0)
		CHECK_INT(dlock_process(c, 0), >=, 0);
	dlock_close(c);
	CHECK_INT(atomic_load(&got.calls), ==, 1);
	CHECK_RC(got.rc, DLOCK_ECANCELED);
	dlock_lock_free(l);
	give(h);
}

static void close_there(const struct dlock_result *r, void *over)
{
	CHECK_OK(dlock_release(r->hold));
	CHECK_OK(dlock_close_start(r->client, outcome_note, over));
}

/* The close begins in a callback, and the loop hears of it by an edge. */
void case_no_threads_closed_in_callback(struct conform *t)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct outcome over = { 0 };
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;
	dlock_lock *l;
	int set = epoll_create1(EPOLL_CLOEXEC);

	CHECK_INT(set, >=, 0);
	o.no_threads = 1;
	CHECK_OK(dlock_open(&c, t->uri, &o));
	CHECK_OK(dlock_mutex_new(&l, c, t->name));
	CHECK_OK(dlock_lock_unbind(l));
	CHECK_INT(epoll_ctl(set, EPOLL_CTL_ADD, dlock_client_fd(c), &ev), ==,
		  0);
	CHECK_OK(dlock_acquire_start(l, -1, close_there, &over, NULL));
	while (atomic_load(&over.calls) == 0) {
		CHECK_INT(epoll_wait(set, &ev, 1, (int)patience_ms()), ==, 1);
		while (dlock_process(c, 0) > 0 && atomic_load(&over.calls) == 0)
			continue;
	}
	CHECK_OK(over.rc);
	close(set);
	dlock_lock_free(l);
}

/* The program polls nothing, and asks when there is work. */
static int tick(dlock_client *c, const struct outcome *o)
{
	if (dlock_due_ms(c) == 0)
		CHECK_INT(dlock_process(c, 0), >=, 0);
	return atomic_load(&o->calls);
}

void case_no_threads_ticks(struct conform *t)
{
	dlock_acquire_options far = DLOCK_ACQUIRE_OPTIONS_INIT;
	struct outcome opened = { 0 }, over = { 0 };
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;
	dlock_lock *l;
	dlock_hold *h;

	o.no_threads = 1;
	CHECK_OK(dlock_open_start(t->uri, &o, &c, outcome_note, &opened));
	EVENTUALLY(tick(c, &opened));
	CHECK_OK(opened.rc);

	/* The end is so far that an int has no room for it. */
	far.max_hold_ms = INT64_C(60) * 24 * 60 * 60 * 1000;
	CHECK_OK(dlock_mutex_new(&l, c, t->name));
	CHECK_OK(dlock_acquire_opts(l, &far, &h));
	CHECK_INT(dlock_due_ms(c), >=, 0);
	CHECK_OK(dlock_release(h));
	dlock_lock_free(l);

	CHECK_OK(dlock_close_start(c, outcome_note, &over));
	EVENTUALLY(tick(c, &over));
	CHECK_OK(over.rc);
}

/* ---- Leases -------------------------------------------------------------- */

/* Without leases there is nothing to renew. */
static void stands(dlock_client *c, dlock_hold *h)
{
	int rc = dlock_wait(c, 50);

	CHECK(rc == DLOCK_OK || rc == DLOCK_EBUSY);
	CHECK_OK(dlock_check(h));
}

void case_no_threads_renews(struct conform *t)
{
	dlock_hold *h, *other, *none;
	dlock_client *c;
	int64_t ttl_ms, begun = now_ms();
	uint64_t renewed;

	use_mutex(t);
	c = no_threads_client(t, SHORT_LEASE);
	ttl_ms = dlock_ttl_ms(c);
	h = take(handle(t, c));
	if (ttl_ms > 0)
		CHECK_INT(dlock_due_ms(c), <=, ttl_ms / 2);
	while (now_ms() - begun < ttl_ms + ttl_ms / 4)
		stands(c, h);
	renewed = stats_of(c).renewed;
	CHECK_INT(renewed, >=, ttl_ms > 0 ? 2 : 0);
	refused(t->lock);

	/* A wait does so as well. */
	other = take(any_lock(t, t->client, MUTEX, 0, "conform/busy"));
	CHECK_RC(dlock_acquire(any_lock(t, c, MUTEX, 0, "conform/busy"),
			       ttl_ms + ttl_ms / 4, &none),
		 DLOCK_EBUSY);
	CHECK_OK(dlock_check(h));
	CHECK_INT(stats_of(c).renewed, >=, renewed + (ttl_ms > 0 ? 2 : 0));
	give(other);
	CHECK_OK(dlock_release(h));
	is_free(t->lock);
}

struct losses {
	int n;
	pthread_t thread;
};

static void note_loss(dlock_hold *hold, enum dlock_event event, const char *why,
		      void *arg)
{
	struct losses *losses = arg;

	(void)hold;
	(void)why;
	losses->n += event == DLOCK_LOST;
	losses->thread = pthread_self();
}

/* The program comes to dlock_process() too late. */
void case_no_threads_stalls(struct conform *t)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct losses losses = { 0 };
	dlock_client *c;
	dlock_hold *h;

	o.no_threads = 1;
	o.on_event = note_loss;
	o.arg = &losses;
	use_mutex(t);
	c = another_client(t, t->ttl_ms > 0 ? SHORT_LEASE : "max_hold=150ms",
			   &o);
	h = take(handle(t, c));
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	if (t->ttl_ms > 0) {
		dlock_hold *next = take(t->lock);

		give(next);
	}
	CHECK_INT(losses.n, ==, 0);
	while (losses.n == 0)
		CHECK_OK(dlock_wait(c, patience_ms()));
	CHECK(pthread_equal(losses.thread, pthread_self()));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_OK(dlock_acquire(handle(t, c), patience_ms(), &h));
	CHECK_OK(dlock_release(h));
	CHECK_INT(losses.n, ==, 1);
}
