/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "chaos/mix.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

void chaos_on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		    void *arg)
{
	struct chaos_worker *w = arg;

	(void)why;
	if (event == DLOCK_LOST)
		lab_holds_lost(&w->holds, hold);
	else if (event == DLOCK_AT_RISK)
		atomic_fetch_add(&w->counters->at_risk, 1);
	else if (event == DLOCK_SAFE)
		atomic_fetch_add(&w->counters->safe, 1);
	else if (event == DLOCK_WANTED)
		atomic_fetch_add(&w->counters->feature[CHAOS_WANTED], 1);
}

static int told_to_stop(int timeout_ms)
{
	struct pollfd p = { .fd = CHAOS_STOP_FD, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}

static int open_files(struct chaos_worker *w)
{
	const struct chaos_job *job = w->job;

	w->counters = chaos_counters_map(job->dir);
	w->history = lab_history_open(job->dir);
	if (!w->counters || !w->history)
		return -1;
	lab_holds_init(&w->holds, w->history);
	w->holds.multi = job->mix;
	for (int i = 0; i < CHAOS_NAMES; i++) {
		w->guarded[i] = lab_resource_open(job->dir,
						  chaos_names[i].name);
		if (!w->guarded[i])
			return -1;
	}
	return 0;
}

/* The store may be out of reach just now.  1: open; 0: told to stop. */
static int open_client(struct chaos_worker *w)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	int rc;

	o.on_event = chaos_on_event;
	o.arg = w;
	do {
		rc = dlock_open(&w->client, w->job->uri, &o);
		if (rc == DLOCK_OK) {
			atomic_fetch_add(&w->counters->opened, 1);
			return 1;
		}
		if (rc != DLOCK_EUNREACHABLE)
			return lab_fail("dlock_open: %s: %s", dlock_errname(rc),
					dlock_errmsg());
		atomic_fetch_add(&w->counters->not_opened, 1);
	} while (!told_to_stop(20));
	return 0;
}

static void *thread_main(void *arg)
{
	struct chaos_thread *me = arg;

	while (!atomic_load(&me->w->stop)) {
		if (me->w->job->mix)
			chaos_use_mix(me);
		else
			chaos_use_lock(me);
		lab_nap_ms(chaos_between(&me->random, 0, 6));
	}
	return NULL;
}

static int start_thread(struct chaos_worker *w, int i)
{
	struct chaos_thread *t = &w->threads[i];

	t->w = w;
	t->random.state = w->job->seed ^ (uint64_t)(i + 1) << 48;
	pthread_mutex_init(&t->lock, NULL);
	if (chaos_make_handles(w, t->own, 1) != DLOCK_OK)
		return lab_fail("%s", dlock_errmsg());
	return pthread_create(&t->thread, NULL, thread_main, t) ?
		       lab_fail("no thread") :
		       0;
}

static void cancel_waits(struct chaos_worker *w)
{
	for (int i = 0; i < w->job->threads; i++)
		chaos_cancel(&w->threads[i]);
}

static void free_handles(dlock_lock *handles[CHAOS_NAMES])
{
	for (int i = 0; i < CHAOS_NAMES; i++)
		dlock_lock_free(handles[i]);
}

static int run_threads(struct chaos_worker *w)
{
	if (chaos_make_handles(w, w->shared, 0) != DLOCK_OK)
		return lab_fail("%s", dlock_errmsg());
	for (int i = 0; i < w->job->threads; i++)
		if (start_thread(w, i) < 0)
			return -1;
	while (!told_to_stop(10)) {
		lab_holds_watch(&w->holds);
		cancel_waits(w);
		if (w->job->mix)
			chaos_count_keeps(w);
	}
	atomic_store(&w->stop, true);
	for (int i = 0; i < w->job->threads; i++) {
		while (pthread_tryjoin_np(w->threads[i].thread, NULL)) {
			lab_holds_watch(&w->holds);
			cancel_waits(w);
			lab_nap_ms(5);
		}
		free_handles(w->threads[i].own);
	}
	free_handles(w->shared);
	return 0;
}

int chaos_worker_main(const struct chaos_job *job)
{
	static struct chaos_worker w;
	int rc;

	w.job = job;
	rc = open_files(&w);
	if (rc == 0) {
		rc = open_client(&w);
		if (rc > 0)
			rc = run_threads(&w);
		dlock_close(w.client);
	}
	for (int i = 0; i < CHAOS_NAMES; i++)
		lab_resource_close(w.guarded[i]);
	if (lab_history_close(w.history) < 0)
		rc = -1;
	if (rc < 0)
		fprintf(stderr, "chaos worker: %s\n", lab_errmsg());
	return rc < 0 ? 1 : 0;
}
