/* SPDX-License-Identifier: Apache-2.0 */
/* The worker processes, which the controller starts, pauses and kills. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chaos/chaos.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "support/process.h"

#define END_MS 20000

int chaos_victim_start(struct chaos *c, struct chaos_victim *v)
{
	struct process_files files = { .out = -1, .keep = { -1, -1 } };
	char seed[24], threads[16], ttl[24], uri[400];
	char *argv[] = { (char *)"chaos",
			 (char *)"--worker",
			 uri,
			 c->dir,
			 seed,
			 threads,
			 ttl,
			 (char *)chaos_mix_word(c),
			 NULL };
	int stop[2];

	if (pipe2(stop, O_CLOEXEC) < 0)
		return lab_fail("pipe: %s", strerror(errno));
	chaos_mix_uri(c, v->number, uri, sizeof(uri));
	snprintf(seed, sizeof(seed), "%" PRIu64,
		 c->o.seed * 1000 + (uint64_t)(100 * v->lives + v->number));
	snprintf(threads, sizeof(threads), "%d", c->o.threads);
	snprintf(ttl, sizeof(ttl), "%" PRId64, c->o.ttl_ms);
	files.keep[0] = stop[0];
	v->pid = process_start(argv, &files, 0);
	close(stop[0]);
	if (v->pid < 0) {
		v->pid = 0;
		close(stop[1]);
		return lab_fail("fork: %s", strerror(errno));
	}
	v->stop_fd = stop[1];
	v->lives++;
	v->paused = false;
	return 0;
}

static void forget_victim(struct chaos_victim *v)
{
	close(v->stop_fd);
	v->pid = 0;
}

static void report_end(struct chaos *c, const struct chaos_victim *v,
		       int status)
{
	c->worker_failed = true;
	if (WIFSIGNALED(status))
		printf("worker %d (process %d) was ended by signal %d\n",
		       v->number, (int)v->pid, WTERMSIG(status));
	else
		printf("worker %d (process %d) ended with code %d\n", v->number,
		       (int)v->pid, WEXITSTATUS(status));
}

int chaos_victims_watch(struct chaos *c)
{
	struct chaos_victim *v;
	int status;

	for (int i = 0; i < c->o.processes; i++) {
		v = &c->victims[i];
		if (v->pid && waitpid(v->pid, &status, WNOHANG) == v->pid) {
			report_end(c, v, status);
			forget_victim(v);
		}
	}
	return 0;
}

int chaos_victims_end(struct chaos *c)
{
	int64_t deadline = lab_after_ms(END_MS);
	struct chaos_victim *v;
	int code;

	for (int i = 0; i < c->o.processes; i++)
		if (c->victims[i].pid)
			close(c->victims[i].stop_fd);
	for (int i = 0; i < c->o.processes; i++) {
		v = &c->victims[i];
		if (!v->pid)
			continue;
		code = process_wait(v->pid, lab_poll_ms(deadline));
		if (code) {
			c->worker_failed = true;
			printf("worker %d (process %d) %s %d\n", v->number,
			       (int)v->pid,
			       code < 0 ? "does not end:" : "ended with code",
			       code);
			if (code < 0)
				process_kill(v->pid);
		}
		v->pid = 0;
	}
	return 0;
}

void chaos_victims_kill(struct chaos *c)
{
	for (int i = 0; i < c->o.processes; i++) {
		if (!c->victims[i].pid)
			continue;
		process_kill(c->victims[i].pid);
		forget_victim(&c->victims[i]);
	}
}

static int pause_victim(struct chaos *c, struct chaos_victim *v)
{
	if (!v->pid)
		return 0;
	if (lab_pause(v->pid) < 0)
		return -1;
	v->paused = true;
	lab_history_process(c->history, LAB_PAUSED, v->pid);
	return 0;
}

static int resume_victim(struct chaos *c, struct chaos_victim *v)
{
	if (!v->pid || !v->paused)
		return 0;
	lab_history_process(c->history, LAB_RESUMED, v->pid);
	v->paused = false;
	return lab_resume(v->pid);
}

static int pause_one(struct chaos *c)
{
	c->target =
		&c->victims[chaos_between(c->random, 0, c->o.processes - 1)];
	return pause_victim(c, c->target);
}

static int resume_one(struct chaos *c)
{
	return resume_victim(c, c->target);
}

static int pause_all(struct chaos *c)
{
	int rc = 0;

	for (int i = 0; i < c->o.processes; i++)
		rc |= pause_victim(c, &c->victims[i]);
	return rc;
}

static int resume_all(struct chaos *c)
{
	int rc = 0;

	for (int i = 0; i < c->o.processes; i++)
		rc |= resume_victim(c, &c->victims[i]);
	return rc;
}

/*
 * Pause the worker, record the death, and kill then: a store that notices the
 * end at once would give the lock to another worker before the record, and a
 * paused process makes no calls to be recorded.
 */
static int kill_one(struct chaos *c)
{
	struct chaos_victim *v;

	v = &c->victims[chaos_between(c->random, 0, c->o.processes - 1)];
	c->target = v;
	if (!v->pid)
		return 0;
	if (lab_pause(v->pid) < 0)
		return -1;
	lab_history_process(c->history, LAB_KILLED, v->pid);
	process_kill(v->pid);
	forget_victim(v);
	return 0;
}

static int replace(struct chaos *c)
{
	return c->target->pid ? 0 : chaos_victim_start(c, c->target);
}

const struct chaos_fault chaos_process_faults[] = {
	CHAOS_FAULT("worker-pause-short", CHAOS_VICTIMS, 2, 5, 60,
		    .begin = pause_one, .end = resume_one),
	CHAOS_FAULT("worker-pause-long", CHAOS_VICTIMS, 4, 120, 250,
		    .begin = pause_one, .end = resume_one),
	CHAOS_FAULT("worker-pause-all", CHAOS_VICTIMS, 1, 50, 200,
		    .begin = pause_all, .end = resume_all),
	CHAOS_FAULT("worker-kill", CHAOS_VICTIMS, 3, 0, 200, .begin = kill_one,
		    .end = replace),
	CHAOS_NO_FAULT
};
