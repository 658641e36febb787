/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/job.h"

#include <dlock/backend.h>
#include <errno.h>

#include "core/base/common.h"
#include "core/base/container.h"

struct dlki_workers {
	struct dlki_common base; /* the first thread */

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
	[DLKI_DELIVER] = { .name = "dlock-deliver" },
};

/* ---- With the mutex held ------------------------------------------------- */

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

/* Start an extra thread.  On failure the job waits, and the next post tries
 * again. */
static void start_extra(struct dlki_workers *by)
{
	pthread_t thread;

	if (dlk_thread(&thread, "dlock-work", extra_main, by) != 0)
		return;
	pthread_detach(thread);
	by->extra++;
	by->starting = 1;
}

/* ---- Jobs ---------------------------------------------------------------- */

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
	pthread_mutex_lock(&by->base.mu);
	if (!atomic_load(&job->by)) {
		rc = dlki_common_join(&by->base, threads[job->thread].name,
				      worker_main);
		if (rc == 0)
			atomic_store(&job->by, by);
	}
	pthread_mutex_unlock(&by->base.mu);
	return rc;
}

int dlki_job_post(struct dlki_job *job)
{
	struct dlki_workers *by = atomic_load(&job->by);
	int waits;

	if (!by) {
		dlki_source_at(&job->source, dlk_now());
		return 0;
	}
	pthread_mutex_lock(&by->base.mu);
	if (job->running)
		job->posted = 1;
	else if (!job->posted)
		enqueue(by, job);
	else if (job->thread == DLKI_WORK && by->asleep == 0 && !by->starting &&
		 dlk_now() >= job->posted_at + DLKI_JOB_STUCK_NS)
		start_extra(by);
	/* A thread that was woken for another job counts as asleep. */
	waits = !job->running && by->waiting > by->asleep;
	pthread_mutex_unlock(&by->base.mu);
	return waits;
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
