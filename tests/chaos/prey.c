/* SPDX-License-Identifier: Apache-2.0 */
/* The workers, as the controller starts, stops and kills them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chaos/chaos.h"
#include "lab/clock.h"
#include "lab/fail.h"
#include "support/process.h"

#define END_MS 20000

int chaos_prey_start(struct chaos *c, struct chaos_prey *p)
{
	struct process_files files = { -1, { -1, -1 } };
	char seed[24], threads[16], ttl[24], seldom[16];
	/* One in three goes straight to the store. */
	char *uri = c->uri[p->number % 3 == 2];
	char *argv[] = { (char *)"chaos",
			 (char *)"--worker",
			 uri,
			 c->dir,
			 seed,
			 threads,
			 ttl,
			 seldom,
			 NULL };
	int leash[2];

	if (pipe2(leash, O_CLOEXEC) < 0)
		return lab_fail("pipe: %s", strerror(errno));
	snprintf(seed, sizeof(seed), "%" PRIu64,
		 c->o.seed * 1000 + (uint64_t)(100 * p->lives + p->number));
	snprintf(threads, sizeof(threads), "%d", c->o.threads);
	snprintf(ttl, sizeof(ttl), "%" PRId64, c->o.ttl_ms);
	snprintf(seldom, sizeof(seldom), "%d", c->o.seldom);
	files.keep[0] = leash[0];
	p->pid = process_start(argv, &files, 0);
	close(leash[0]);
	if (p->pid < 0) {
		p->pid = 0;
		close(leash[1]);
		return lab_fail("fork: %s", strerror(errno));
	}
	p->leash = leash[1];
	p->lives++;
	p->paused = false;
	return 0;
}

static void gone(struct chaos_prey *p)
{
	close(p->leash);
	p->pid = 0;
}

static void tell_end(struct chaos *c, const struct chaos_prey *p, int status)
{
	c->mishap = true;
	if (WIFSIGNALED(status))
		printf("worker %d (process %d) was ended by signal %d\n",
		       p->number, (int)p->pid, WTERMSIG(status));
	else
		printf("worker %d (process %d) ended with code %d\n", p->number,
		       (int)p->pid, WEXITSTATUS(status));
}

int chaos_prey_watch(struct chaos *c)
{
	struct chaos_prey *p;
	int status;

	for (int i = 0; i < c->o.processes; i++) {
		p = &c->prey[i];
		if (p->pid && waitpid(p->pid, &status, WNOHANG) == p->pid) {
			tell_end(c, p, status);
			gone(p);
		}
	}
	return 0;
}

int chaos_prey_end(struct chaos *c)
{
	int64_t deadline = lab_after_ms(END_MS);
	struct chaos_prey *p;
	int code;

	for (int i = 0; i < c->o.processes; i++)
		if (c->prey[i].pid)
			close(c->prey[i].leash);
	for (int i = 0; i < c->o.processes; i++) {
		p = &c->prey[i];
		if (!p->pid)
			continue;
		code = process_wait(p->pid, lab_poll_ms(deadline));
		if (code) {
			c->mishap = true;
			printf("worker %d (process %d) %s %d\n", p->number,
			       (int)p->pid,
			       code < 0 ? "does not end:" : "ended with code",
			       code);
			if (code < 0)
				process_kill(p->pid);
		}
		p->pid = 0;
	}
	return 0;
}

void chaos_prey_free(struct chaos *c)
{
	for (int i = 0; i < c->o.processes; i++) {
		if (!c->prey[i].pid)
			continue;
		process_kill(c->prey[i].pid);
		gone(&c->prey[i]);
	}
}

static int stop(struct chaos *c, struct chaos_prey *p)
{
	if (!p->pid)
		return 0;
	if (lab_pause(p->pid) < 0)
		return -1;
	p->paused = true;
	lab_history_process(c->history, LAB_PAUSED, p->pid);
	return 0;
}

static int go_on(struct chaos *c, struct chaos_prey *p)
{
	if (!p->pid || !p->paused)
		return 0;
	lab_history_process(c->history, LAB_RESUMED, p->pid);
	p->paused = false;
	return lab_resume(p->pid);
}

static int pause_one(struct chaos *c, struct chaos_draw *d)
{
	c->target = &c->prey[chaos_between(d, 0, c->o.processes - 1)];
	return stop(c, c->target);
}

static int resume_one(struct chaos *c)
{
	return go_on(c, c->target);
}

static int pause_all(struct chaos *c, struct chaos_draw *d)
{
	int rc = 0;

	(void)d;
	for (int i = 0; i < c->o.processes; i++)
		rc |= stop(c, &c->prey[i]);
	return rc;
}

static int resume_all(struct chaos *c)
{
	int rc = 0;

	for (int i = 0; i < c->o.processes; i++)
		rc |= go_on(c, &c->prey[i]);
	return rc;
}

/*
 * It is stopped first and declared dead then: a store that notices its end at
 * once gives the lock on before we could have said so, and a process that
 * stands still does nothing any more that would have to be noted.
 */
static int kill_one(struct chaos *c, struct chaos_draw *d)
{
	struct chaos_prey *p;

	p = &c->prey[chaos_between(d, 0, c->o.processes - 1)];
	c->target = p;
	if (!p->pid)
		return 0;
	if (lab_pause(p->pid) < 0)
		return -1;
	lab_history_process(c->history, LAB_KILLED, p->pid);
	process_kill(p->pid);
	gone(p);
	return 0;
}

static int replace(struct chaos *c)
{
	return c->target->pid ? 0 : chaos_prey_start(c, c->target);
}

const struct chaos_fault chaos_pause_short = {
	.name = "worker-pause-short",
	.lane = CHAOS_PREY,
	.weight = 2,
	.min_pc = 5,
	.max_pc = 60,
	.begin = pause_one,
	.end = resume_one,
};

const struct chaos_fault chaos_pause_long = {
	.name = "worker-pause-long",
	.lane = CHAOS_PREY,
	.weight = 4,
	.min_pc = 120,
	.max_pc = 250,
	.begin = pause_one,
	.end = resume_one,
};

const struct chaos_fault chaos_pause_all = {
	.name = "worker-pause-all",
	.lane = CHAOS_PREY,
	.weight = 1,
	.min_pc = 50,
	.max_pc = 200,
	.begin = pause_all,
	.end = resume_all,
};

const struct chaos_fault chaos_kill = {
	.name = "worker-kill",
	.lane = CHAOS_PREY,
	.weight = 3,
	.min_pc = 0,
	.max_pc = 200,
	.begin = kill_one,
	.end = replace,
};
