/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/job.h"

#include <dlock/backend.h>
#include <errno.h>

#include "core/base/common.h"
#include "core/base/container.h"

#define STUCK_NS (10 * DLK_MS)

struct dlki_workers {
	struct dlki_common base;   /* the first thread */
	enum dlki_job_thread kind; /* constant once a job has joined */

	/* Under the mutex of `base`, a leaf but for the clients' and their
	 * logs'. */
	pthread_cond_t more;        /* threads sleep here */
	unsigned int asleep, extra; /* threads; besides the first */
	unsigned int waiting;       /* jobs in the queue */
	int starting;               /* the newest is yet to take a job */
	TAILQ_HEAD(, dlki_job) jobs;
};

static struct {
	const char *name;
	struct dlki_common *_Atomic current;
} threads[] = {
	[DLKI_WORK] = { .name = "dlock-work" },
	[DLKI_ASYNC] = { .name = "dlock-async" },
	[DLKI_DELIVER] = { .name = "dlock-deliver" },
};

/* ---- With the mutex held ------------------------------------------------- */

/* Set the time of the next look after the job: there is one for the first job
 * that waits while all threads are busy.  A thread that was woken for another
 * job counts as asleep. */
static void set_look(const struct dlki_workers *by, struct dlki_job *job)
{
	dlk_time at = job->at;

	if (job->posted && !job->running && by->waiting > by->asleep &&
	    dlk_now() + STUCK_NS < at)
		at = dlk_now() + STUCK_NS;
	if (at != DLK_FOREVER)
		dlki_source_at(&job->source, at);
}

static void enqueue(struct dlki_workers *by, struct dlki_job *job)
{
	if (by->waiting++ == 0)
		TAILQ_INIT(&by->jobs);
	TAILQ_INSERT_TAIL(&by->jobs, job, in_queue);
	job->posted = 1;
	job->posted_at = dlk_now();
	if (by->asleep > 0)
		pthread_cond_signal(&by->more);
}

static void dequeue(struct dlki_workers *by, struct dlki_job *job)
{
	TAILQ_REMOVE(&by->jobs, job, in_queue);
	by->waiting--;
	job->posted = 0;
}

static void rouse_all(struct dlki_common *base)
{
	pthread_cond_broadcast(&((struct dlki_workers *)base)->more);
}

/* ---- The threads --------------------------------------------------------- */

static void run_first(struct dlki_workers *by)
{
	struct dlki_job *job = TAILQ_FIRST(&by->jobs);
	int more;

	dequeue(by, job);
	job->running = 1;
	if (by->waiting > 0)
		set_look(by, TAILQ_FIRST(&by->jobs));
	pthread_mutex_unlock(&by->base.mu);
	more = job->run(job);
	pthread_mutex_lock(&by->base.mu);
	job->running = 0;
	if (atomic_load(&job->by) && (more || job->posted))
		enqueue(by, job);
	pthread_cond_broadcast(&by->base.changed);
}

static void *worker_main(void *arg)
{
	struct dlki_workers *by = arg;
	int state;

	/* A program's mistake with a client must not harm the others. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&by->base.mu);
	while (!by->base.stop) {
		if (by->waiting > 0) {
			run_first(by);
			continue;
		}
		by->asleep++;
		pthread_cond_wait(&by->more, &by->base.mu);
		by->asleep--;
	}
	pthread_mutex_unlock(&by->base.mu);
	return NULL;
}

static void *extra_main(void *arg)
{
	struct dlki_workers *by = arg;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&by->base.mu);
	by->starting = 0;
	while (by->waiting > 0)
		run_first(by);
	by->extra--;
	pthread_cond_broadcast(&by->base.changed);
	pthread_mutex_unlock(&by->base.mu);
	return NULL;
}

/* ---- Jobs ---------------------------------------------------------------- */

/* The mutex is held. */
static void post(struct dlki_workers *by, struct dlki_job *job)
{
	if (job->running) {
		job->posted = 1;
	} else if (!job->posted) {
		enqueue(by, job);
		set_look(by, job);
	}
}

/* Start an extra thread for a job that has waited for too long.  On failure the
 * next look tries again. */
static void help(struct dlki_workers *by, const struct dlki_job *job)
{
	pthread_t thread;

	if (!job->posted || job->running || by->asleep > 0 || by->starting ||
	    dlk_now() < job->posted_at + STUCK_NS ||
	    dlk_thread(&thread, threads[by->kind].name, extra_main, by) != 0)
		return;
	pthread_detach(thread);
	by->extra++;
	by->starting = 1;
}

/* dlock-loop looks after the job. */
static void look(struct dlki_source *source)
{
	struct dlki_job *job = DLKI_CONTAINER_OF(source, struct dlki_job,
						 source);
	struct dlki_workers *by = atomic_load(&job->by);

	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	if (job->at <= dlk_now()) {
		job->at = DLK_FOREVER;
		post(by, job);
	}
	help(by, job);
	set_look(by, job);
	pthread_mutex_unlock(&by->base.mu);
}

static void run_as_source(struct dlki_source *source)
{
	struct dlki_job *job = DLKI_CONTAINER_OF(source, struct dlki_job,
						 source);

	if (job->run(job))
		dlki_source_at(source, dlk_now());
}

static int join_own(struct dlki_job *job, struct dlki_attendant *own)
{
	if (atomic_load(&job->source.by))
		return 0;
	job->source.ready = run_as_source;
	return dlki_source_join(&job->source, own);
}

/* 0, or an errno value. */
static int join_workers(struct dlki_job *job, struct dlki_workers *by)
{
	int rc = 0;

	pthread_mutex_lock(&by->base.mu);
	if (!atomic_load(&job->by)) {
		rc = dlki_common_join(&by->base, threads[job->thread].name,
				      worker_main);
		if (rc == 0) {
			by->kind = job->thread;
			job->at = DLK_FOREVER;
			atomic_store(&job->by, by);
		}
	}
	pthread_mutex_unlock(&by->base.mu);
	return rc;
}

int dlki_job_join(struct dlki_job *job, struct dlki_attendant *own)
{
	struct dlki_workers *by;
	int rc = 0;

	if (own)
		return join_own(job, own);
	by = (struct dlki_workers *)dlki_common_here(
		&threads[job->thread].current, sizeof(struct dlki_workers));
	if (!by)
		return ENOMEM;
	if (job->thread != DLKI_DELIVER && !atomic_load(&job->by)) {
		job->source.ready = look;
		rc = dlki_source_join(&job->source, NULL);
	}
	if (rc == 0)
		rc = join_workers(job, by);
	if (rc != 0)
		dlki_source_leave(&job->source);
	return rc;
}

void dlki_job_post(struct dlki_job *job)
{
	struct dlki_workers *by = atomic_load(&job->by);

	if (!by) {
		dlki_source_at(&job->source, dlk_now());
		return;
	}
	pthread_mutex_lock(&by->base.mu);
	post(by, job);
	pthread_mutex_unlock(&by->base.mu);
}

void dlki_job_at(struct dlki_job *job, dlk_time at)
{
	struct dlki_workers *by = atomic_load(&job->by);

	if (!by) {
		dlki_source_at(&job->source, at);
		return;
	}
	pthread_mutex_lock(&by->base.mu);
	job->at = at;
	set_look(by, job);
	pthread_mutex_unlock(&by->base.mu);
}

void dlki_job_leave(struct dlki_job *job)
{
	struct dlki_workers *by = atomic_load(&job->by);

	dlki_source_leave(&job->source);
	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	atomic_store(&job->by, NULL);
	if (job->posted && !job->running)
		dequeue(by, job);
	while (job->running || (by->base.users == 1 && by->extra > 0))
		dlk_cond_wait(&by->base.changed, &by->base.mu, DLK_FOREVER);
	dlki_common_leave(&by->base, rouse_all);
	pthread_mutex_unlock(&by->base.mu);
}
