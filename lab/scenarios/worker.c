/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/worker.h"
#include "lab/base/fail.h"
#include "lab/scenarios/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define JOIN_MS 20000

/* The store may have rounded the ttl: the reported ttl counts. */
static void adopt_ttl(struct lab_trial *t, const struct lab_reply *hello)
{
	t->linger_ms = hello->linger_ms;
	if (!t->ttl_ms || hello->ttl_ms <= t->ttl_ms)
		return;
	t->ttl_ms = hello->ttl_ms;
	t->check.found_ns = lab_found_bound_ms(t) * LAB_MS;
}

static bool greet_worker(struct lab_worker *p, int how, uint32_t require)
{
	struct lab_trial *t = p->trial;
	struct lab_hello hello = { .require = require, .parent = getpid() };

	snprintf(hello.uri, sizeof(hello.uri), "%s",
		 how & LAB_JOIN_PROXIED ? t->proxied : t->direct);
	snprintf(hello.command, sizeof(hello.command), "%s", t->sut->command);
	snprintf(hello.dir, sizeof(hello.dir), "%s", t->dir);
	snprintf(hello.label, sizeof(hello.label), "%s", p->label);
	if (send(p->fd, &hello, sizeof(hello), MSG_NOSIGNAL) < 0 ||
	    !lab_worker_receive(p, lab_after_ms(JOIN_MS), &p->hello)) {
		lab_trial_fail(t, "%s did not come up", p->label);
		return false;
	}
	if (p->hello.rc != DLOCK_OK && !(how & LAB_JOIN_MAY_FAIL))
		lab_trial_fail(t, "%s could not open the store: %s", p->label,
			       p->hello.text);
	if (p->hello.rc == DLOCK_OK)
		adopt_ttl(t, &p->hello);
	return p->hello.rc == DLOCK_OK || how & LAB_JOIN_MAY_FAIL;
}

struct lab_worker *lab_join_requiring(struct lab_trial *t, const char *label,
				      int how, uint32_t require)
{
	struct lab_worker *p;

	if (lab_trial_stopped(t))
		lab_trial_fail(t, "interrupted");
	if (t->failed)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p) {
		lab_trial_fail(t, "out of memory");
		return NULL;
	}
	p->trial = t;
	p->label = label;
	p->fd = -1;
	p->next = t->workers;
	t->workers = p;
	if (lab_worker_start(p, !t->sut->local || how & LAB_JOIN_ALONE) < 0) {
		lab_trial_fail(t, "%s", lab_errmsg());
		return NULL;
	}
	return greet_worker(p, how, require) ? p : NULL;
}

struct lab_worker *lab_join(struct lab_trial *t, const char *label, int how)
{
	return lab_join_requiring(t, label, how, 0);
}

void lab_leave(struct lab_worker *p)
{
	struct lab_order e = { .verb = LAB_DO_QUIT };
	bool hurry;

	if (!p || p->fd < 0)
		return;
	hurry = lab_trial_stopped(p->trial);
	send(p->fd, &e, sizeof(e), MSG_NOSIGNAL);
	lab_worker_end(p, hurry);
	close(p->fd);
	p->fd = -1;
}

void lab_leave_all(struct lab_trial *t)
{
	for (struct lab_worker *p = t->workers; p; p = p->next)
		lab_leave(p);
}

void lab_workers_free(struct lab_trial *t)
{
	while (t->workers) {
		struct lab_worker *p = t->workers;

		t->workers = p->next;
		free(p);
	}
}

const char *lab_worker_of(const struct lab_trial *t, uint32_t tid)
{
	for (const struct lab_worker *p = t->workers; p; p = p->next)
		if (p->hello.tid == tid)
			return p->label;
	return NULL;
}
