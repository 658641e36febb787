/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a worker, from its first packet to its last. */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/worker/executor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define WATCH_MS 5

/* ---- Orders -------------------------------------------------------------- */

static void send_reply(struct lab_executor *w, const struct lab_reply *r)
{
	/* A controller that has gone needs no answer. */
	while (send(w->fd, r, sizeof(*r), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Refuse an acquire during a hold: a mutex is re-entrant, so in the history a
 * worker that was granted a lock by surprise, and tries again, would hold
 * twice. */
static void acquire_once(struct lab_executor *w, const struct lab_order *e,
			 struct lab_reply *r)
{
	if (w->held) {
		r->rc = DLOCK_EINVAL;
		lab_executor_say(r, "this worker holds a lock");
		return;
	}
	r->rc = lab_executor_acquire(w, e, e->timeout_ms);
	r->token = w->held ? w->token : 0;
}

static void run_order(struct lab_executor *w, const struct lab_order *e,
		      struct lab_reply *r)
{
	r->begun = lab_now();
	switch (e->verb) {
	case LAB_DO_ACQUIRE:
		acquire_once(w, e, r);
		break;
	case LAB_DO_RELEASE:
		r->rc = lab_executor_release(w);
		break;
	case LAB_DO_LOOP:
		lab_executor_loop(w, e, r);
		break;
	case LAB_DO_MULTI:
		lab_executor_multi(w, e, r);
		break;
	case LAB_DO_PAIRS:
		lab_executor_pairs(w, e, r);
		break;
	case LAB_DO_FORK:
		lab_executor_fork(w, e, r);
		break;
	default:
		r->rc = DLOCK_EINVAL;
	}
	r->ended = lab_now();
	if (r->rc != DLOCK_OK && !*r->text)
		lab_executor_say(r, "%s",
				 w->foreign ? lab_errmsg() : dlock_errmsg());
}

/* Acquire and release all mutexes, which belong to this thread. */
static void *run_acquirer(void *arg)
{
	struct lab_executor *w = arg;

	pthread_mutex_lock(&w->mutex);
	w->tid = (uint32_t)gettid();
	pthread_cond_broadcast(&w->cond);
	for (;;) {
		struct lab_reply r = { 0 };
		struct lab_order e;

		while (!w->pending && !w->quit)
			pthread_cond_wait(&w->cond, &w->mutex);
		if (w->quit)
			break;
		e = w->order;
		pthread_mutex_unlock(&w->mutex);
		r.verb = e.verb;
		run_order(w, &e, &r);
		pthread_mutex_lock(&w->mutex);
		w->pending = false;
		send_reply(w, &r);
	}
	pthread_mutex_unlock(&w->mutex);
	if (w->held)
		lab_executor_release(w);
	return NULL;
}

static void answer_beside(struct lab_executor *w)
{
	struct dlock_stats s = { .size = sizeof(s) };
	struct lab_reply r = { .verb = LAB_DO_STATS };

	if (w->client)
		r.rc = dlock_get_stats(w->client, &s);
	r.count = (int64_t)s.waiters;
	if (w->foreign) {
		pthread_mutex_lock(&w->holds.mutex);
		r.count = w->holds.acquiring;
		pthread_mutex_unlock(&w->holds.mutex);
	}
	r.attempts = s.attempts;
	send_reply(w, &r);
}

/* Until told to quit; the acquirer may be at work still. */
static void receive_orders(struct lab_executor *w)
{
	struct lab_order e;

	for (;;) {
		struct pollfd p = { .fd = w->fd, .events = POLLIN };

		if (poll(&p, 1, WATCH_MS) <= 0) {
			lab_holds_watch(&w->holds);
			continue;
		}
		if (recv(w->fd, &e, sizeof(e), 0) != sizeof(e) ||
		    e.verb == LAB_DO_QUIT)
			return;
		if (e.verb > LAB_SIDE) {
			answer_beside(w);
			continue;
		}
		pthread_mutex_lock(&w->mutex);
		w->order = e;
		w->pending = true;
		pthread_cond_broadcast(&w->cond);
		pthread_mutex_unlock(&w->mutex);
	}
}

/* ---- From beginning to end ----------------------------------------------- */

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	struct lab_executor *w = arg;

	(void)why;
	if (event == DLOCK_LOST)
		lab_holds_lost(&w->holds, hold);
}

static int open_store(struct lab_executor *w, struct lab_reply *r)
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
		lab_executor_say(r, "%s",
				 w->foreign ? lab_foreign_about(w->foreign) :
					      lab_errmsg());
		return r->rc;
	}
	r->rc = dlock_open(&w->client, w->hello.uri, &o);
	if (r->rc != DLOCK_OK) {
		lab_executor_say(r, "%s", dlock_errmsg());
		return r->rc;
	}
	lab_executor_say(r, "%s", dlock_uri(w->client));
	r->count = dlock_caps(w->client);
	r->ttl_ms = dlock_ttl_ms(w->client);
	r->linger_ms = dlock_linger_ms(w->client);
	return DLOCK_OK;
}

static void serve_controller(struct lab_executor *w)
{
	struct lab_reply r = { 0 };
	pthread_t thread;

	if (open_store(w, &r) == DLOCK_OK &&
	    pthread_create(&thread, NULL, run_acquirer, w) == 0) {
		pthread_mutex_lock(&w->mutex);
		while (!w->tid)
			pthread_cond_wait(&w->cond, &w->mutex);
		pthread_mutex_unlock(&w->mutex);
		r.tid = w->tid;
		send_reply(w, &r);
		receive_orders(w);
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
	dlock_lock_free(w->lock);
	dlock_close(w->client);
	lab_foreign_free(w->foreign);
}

void lab_work(int fd, struct lab_history *history)
{
	struct lab_executor *w = calloc(1, sizeof(*w));

	if (!w)
		return;
	w->fd = fd;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->cond, NULL);
	if (recv(fd, &w->hello, sizeof(w->hello), 0) == sizeof(w->hello)) {
		w->history = history ? history : lab_history_open(w->hello.dir);
		lab_holds_init(&w->holds, w->history);
		w->holds.checks = true;
		if (w->history)
			serve_controller(w);
		if (!history)
			lab_history_close(w->history);
	}
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}

int lab_worker_main(void)
{
	struct lab_hello peek;

	/* If the parent died before PR_SET_PDEATHSIG took effect, the worker
	 * has another parent now. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (recv(LAB_WORKER_FD, &peek, sizeof(peek), MSG_PEEK) !=
		    sizeof(peek) ||
	    peek.parent != getppid())
		return 1;
	lab_work(LAB_WORKER_FD, NULL);
	return 0;
}
