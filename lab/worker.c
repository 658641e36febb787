/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/clock.h"
#include "lab/fail.h"
#include "lab/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WATCH_MS 5

/* ---- Locks --------------------------------------------------------------- */

int lab_worker_lock(struct lab_worker *w, const struct lab_errand *e)
{
	int rc = DLOCK_OK;

	if (w->foreign) {
		snprintf(w->name, sizeof(w->name), "%s", e->name);
		return e->mode == LAB_MUTEX ? DLOCK_OK : DLOCK_ENOTSUP;
	}
	if (w->lock && !strcmp(w->name, e->name) && w->limit == e->limit &&
	    (w->mode == LAB_MUTEX) == (e->mode == LAB_MUTEX)) {
		w->mode = e->mode;
		return DLOCK_OK;
	}
	pthread_mutex_lock(&w->mutex);
	dlock_free(w->lock);
	w->lock = NULL;
	switch (e->mode) {
	case LAB_MUTEX:
		rc = dlock_mutex_new(&w->lock, w->client, e->name);
		break;
	case LAB_WRITE:
	case LAB_READ:
		rc = dlock_rwlock_new(&w->lock, w->client, e->name);
		break;
	case LAB_PERMIT:
		rc = dlock_semaphore_new(&w->lock, w->client, e->name,
					 e->limit);
		break;
	}
	pthread_mutex_unlock(&w->mutex);
	snprintf(w->name, sizeof(w->name), "%s", e->name);
	w->mode = e->mode;
	w->limit = e->limit;
	return rc;
}

int64_t lab_worker_until(const dlock_hold *hold)
{
	int64_t asked = lab_now();

	return lab_until(asked, dlock_remaining_ms(hold));
}

static int64_t until(struct lab_worker *w)
{
	return w->foreign ? LAB_FOREVER : lab_worker_until(w->hold);
}

static void begin(struct lab_worker *w, uint64_t op)
{
	pthread_mutex_lock(&w->mutex);
	w->op = op;
	w->asking = true;
	w->lost_early = false;
	w->watched = 0;
	pthread_mutex_unlock(&w->mutex);
}

/* The hold is there for who watches it, and for who says it is lost. */
static void got(struct lab_worker *w, int rc, dlock_hold *hold, uint64_t token)
{
	pthread_mutex_lock(&w->mutex);
	w->hold = rc == DLOCK_OK ? hold : NULL;
	w->token = token;
	w->held = rc == DLOCK_OK;
	w->asking = false;
	lab_history_acquired(w->history, w->op, rc, token,
			     w->held ? until(w) : 0);
	if (w->held && w->lost_early)
		lab_history_lost(w->history, w->op);
	pthread_mutex_unlock(&w->mutex);
}

int lab_worker_acquire(struct lab_worker *w, const struct lab_errand *e,
		       int64_t timeout_ms)
{
	dlock_hold *hold = NULL;
	uint64_t token = 0;
	int rc = lab_worker_lock(w, e);

	if (rc != DLOCK_OK)
		return rc;
	begin(w, lab_history_acquire(w->history, e->name, e->mode, e->limit,
				     timeout_ms));
	if (w->foreign)
		rc = lab_foreign_acquire(w->foreign, e->name, timeout_ms,
					 &token);
	else if (e->mode == LAB_READ)
		rc = dlock_acquire_shared(w->lock, timeout_ms, &hold);
	else
		rc = dlock_acquire(w->lock, timeout_ms, &hold);
	if (hold)
		token = dlock_token(hold);
	got(w, rc, hold, token);
	return rc;
}

int lab_worker_release(struct lab_worker *w)
{
	dlock_hold *hold;
	uint64_t op;
	int rc;

	if (!w->held)
		return DLOCK_EINVAL;
	pthread_mutex_lock(&w->mutex);
	lab_history_release(w->history, w->op, until(w));
	hold = w->hold;
	op = w->op;
	w->hold = NULL;
	w->held = false;
	pthread_mutex_unlock(&w->mutex);
	rc = w->foreign ? lab_foreign_release(w->foreign) : dlock_release(hold);
	lab_history_released(w->history, op, rc);
	return rc;
}

void lab_worker_say(struct lab_reply *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->text, sizeof(r->text), format, args);
	va_end(args);
}

/* ---- Watching ------------------------------------------------------------ */

static void lost_member(struct lab_worker *w, const dlock_hold *hold)
{
	for (int i = 0; i < 2; i++) {
		struct lab_member *m = &w->members[i];

		if (m->hold != hold || m->lost)
			continue;
		lab_history_lost(w->history, m->op);
		m->lost = true;
	}
}

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	struct lab_worker *w = arg;

	(void)why;
	if (event != DLOCK_LOST)
		return;
	pthread_mutex_lock(&w->mutex);
	if (w->asking)
		w->lost_early = true;
	else if (w->held && (w->hold == hold || !w->hold))
		lab_history_lost(w->history, w->op);
	lost_member(w, hold);
	pthread_mutex_unlock(&w->mutex);
}

static void watch_lease(struct lab_worker *w, uint64_t op, int64_t end,
			int64_t *watched)
{
	if (end != *watched)
		lab_history_until(w->history, op, end);
	*watched = end;
}

/* What is known of the lease, often enough for verdicts on the killed. */
static void watch(struct lab_worker *w)
{
	int64_t asked;

	pthread_mutex_lock(&w->mutex);
	if (w->hold) {
		asked = lab_now();
		lab_history_checked(w->history, w->op, asked,
				    dlock_check(w->hold));
		watch_lease(w, w->op, until(w), &w->watched);
	}
	for (int i = 0; i < 2; i++) {
		struct lab_member *m = &w->members[i];

		if (m->hold)
			watch_lease(w, m->op, lab_worker_until(m->hold),
				    &m->watched);
	}
	pthread_mutex_unlock(&w->mutex);
}

/* ---- Errands ------------------------------------------------------------- */

static void send_reply(struct lab_worker *w, const struct lab_reply *r)
{
	/* Whoever has gone needs no answer. */
	while (send(w->fd, r, sizeof(*r), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void run_errand(struct lab_worker *w, const struct lab_errand *e,
		       struct lab_reply *r)
{
	r->begun = lab_now();
	switch (e->verb) {
	case LAB_DO_ACQUIRE:
		r->rc = lab_worker_acquire(w, e, e->timeout_ms);
		r->token = w->held ? w->token : 0;
		break;
	case LAB_DO_RELEASE:
		r->rc = lab_worker_release(w);
		break;
	case LAB_DO_LOOP:
		lab_worker_loop(w, e, r);
		break;
	case LAB_DO_MULTI:
		lab_worker_multi(w, e, r);
		break;
	case LAB_DO_PAIRS:
		lab_worker_pairs(w, e, r);
		break;
	case LAB_DO_REENTER:
		lab_worker_reenter(w, e, r);
		break;
	case LAB_DO_FORK:
		lab_worker_fork(w, e, r);
		break;
	default:
		r->rc = DLOCK_EINVAL;
	}
	r->ended = lab_now();
	if (r->rc != DLOCK_OK && !*r->text)
		lab_worker_say(r, "%s",
			       w->foreign ? lab_errmsg() : dlock_errmsg());
}

/* Mutexes belong to their thread: all is taken and given back by this one. */
static void *hand(void *arg)
{
	struct lab_worker *w = arg;

	pthread_mutex_lock(&w->mutex);
	w->tid = (uint32_t)gettid();
	pthread_cond_broadcast(&w->cond);
	for (;;) {
		struct lab_reply r = { 0 };
		struct lab_errand e;

		while (!w->pending && !w->quit)
			pthread_cond_wait(&w->cond, &w->mutex);
		if (w->quit)
			break;
		e = w->errand;
		pthread_mutex_unlock(&w->mutex);
		r.verb = e.verb;
		run_errand(w, &e, &r);
		pthread_mutex_lock(&w->mutex);
		w->pending = false;
		send_reply(w, &r);
	}
	pthread_mutex_unlock(&w->mutex);
	if (w->held)
		lab_worker_release(w);
	return NULL;
}

static void beside(struct lab_worker *w, enum lab_verb_of_worker verb)
{
	struct dlock_stats s = { .size = sizeof(s) };
	struct lab_reply r = { .verb = verb };

	if (w->client)
		r.rc = dlock_get_stats(w->client, &s);
	r.count = (int64_t)s.waiters;
	if (w->foreign) {
		pthread_mutex_lock(&w->mutex);
		r.count = w->asking;
		pthread_mutex_unlock(&w->mutex);
	}
	r.attempts = s.attempts;
	r.polls = s.polls;
	r.lost = s.lost;
	if (verb == LAB_DO_CANCEL) {
		pthread_mutex_lock(&w->mutex);
		if (w->lock)
			dlock_cancel(w->lock);
		pthread_mutex_unlock(&w->mutex);
	}
	send_reply(w, &r);
}

/* Until told to quit; the hand may be at work still. */
static void obey(struct lab_worker *w)
{
	struct lab_errand e;

	for (;;) {
		struct pollfd p = { .fd = w->fd, .events = POLLIN };

		if (poll(&p, 1, WATCH_MS) <= 0) {
			watch(w);
			continue;
		}
		if (recv(w->fd, &e, sizeof(e), 0) != sizeof(e) ||
		    e.verb == LAB_DO_QUIT)
			return;
		if (e.verb > LAB_SIDE) {
			beside(w, e.verb);
			continue;
		}
		pthread_mutex_lock(&w->mutex);
		w->errand = e;
		w->pending = true;
		pthread_cond_broadcast(&w->cond);
		pthread_mutex_unlock(&w->mutex);
	}
}

/* ---- From beginning to end ----------------------------------------------- */

static int open_store(struct lab_worker *w, struct lab_reply *r)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.require = w->hello.require;
	o.label = w->hello.label;
	o.on_event = on_event;
	o.arg = w;
	o.password = secure_getenv("DLOCK_PASSWORD");
	if (*w->hello.command) {
		w->foreign = lab_foreign_start(w->hello.command, w->hello.dir);
		r->rc = w->foreign ? DLOCK_OK : DLOCK_EUNREACHABLE;
		lab_worker_say(r, "%s",
			       w->foreign ? lab_foreign_about(w->foreign) :
					    lab_errmsg());
		return r->rc;
	}
	r->rc = dlock_open(&w->client, w->hello.uri, &o);
	if (r->rc != DLOCK_OK) {
		lab_worker_say(r, "%s", dlock_errmsg());
		return r->rc;
	}
	lab_worker_say(r, "%s", dlock_uri(w->client));
	r->count = dlock_caps(w->client);
	r->ttl_ms = dlock_ttl_ms(w->client);
	return DLOCK_OK;
}

static void serve(struct lab_worker *w)
{
	struct lab_reply r = { 0 };
	pthread_t thread;

	if (open_store(w, &r) == DLOCK_OK &&
	    pthread_create(&thread, NULL, hand, w) == 0) {
		pthread_mutex_lock(&w->mutex);
		while (!w->tid)
			pthread_cond_wait(&w->cond, &w->mutex);
		pthread_mutex_unlock(&w->mutex);
		r.tid = w->tid;
		send_reply(w, &r);
		obey(w);
		pthread_mutex_lock(&w->mutex);
		w->quit = true;
		if (w->lock)
			dlock_cancel(w->lock);
		pthread_cond_broadcast(&w->cond);
		pthread_mutex_unlock(&w->mutex);
		pthread_join(thread, NULL);
	} else {
		send_reply(w, &r);
	}
	dlock_free(w->lock);
	dlock_close(w->client);
	lab_foreign_free(w->foreign);
}

void lab_work(int fd, struct lab_history *history)
{
	struct lab_worker *w = calloc(1, sizeof(*w));

	if (!w)
		return;
	w->fd = fd;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->cond, NULL);
	if (recv(fd, &w->hello, sizeof(w->hello), 0) == sizeof(w->hello)) {
		w->history = history ? history : lab_history_open(w->hello.dir);
		if (w->history)
			serve(w);
		if (!history)
			lab_history_close(w->history);
	}
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
