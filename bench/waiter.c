/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/handoff.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_NS INT64_C(60000000000)

const struct handoff_kind *handoff_kind_of(const struct handoff_party *p,
					   int which)
{
	return which == HANDOFF_OURS ? &p->plan->ours : &p->plan->floor;
}

int handoff_open(struct handoff_party *p)
{
	const struct handoff *plan = p->plan;
	int rc;

	rc = plan->floor.open(p->run, plan->floor_where,
			      p->other ? p->other->lock[HANDOFF_FLOOR] : NULL,
			      &p->lock[HANDOFF_FLOOR]);
	if (rc == 0)
		rc = plan->ours.open(p->run, plan->our_where,
				     p->other ? p->other->lock[HANDOFF_OURS] :
						NULL,
				     &p->lock[HANDOFF_OURS]);
	return rc;
}

void handoff_close(struct handoff_party *p)
{
	for (int i = 0; i < 2; i++) {
		if (p->lock[i])
			handoff_kind_of(p, i)->close(p->lock[i]);
		p->lock[i] = NULL;
	}
}

static void look(const struct handoff_party *p, struct handoff_idle *now)
{
	const struct handoff_kind *kind = handoff_kind_of(p, p->shared->which);
	struct dlock_stats stats = { .size = sizeof(stats) };
	struct rusage usage = { 0 };

	if (kind->client)
		dlock_get_stats(kind->client(p->lock[p->shared->which]),
				&stats);
	getrusage(RUSAGE_SELF, &usage);
	now->ns = bench_now();
	now->attempts = stats.attempts;
	now->polls = stats.polls;
	now->wakeups = usage.ru_nvcsw + usage.ru_nivcsw;
}

static int take(const struct handoff_party *p)
{
	const struct handoff_kind *kind = handoff_kind_of(p, p->shared->which);
	void *lock = p->lock[p->shared->which];
	struct handoff_idle before, after;
	int rc;

	look(p, &before);
	atomic_fetch_add(&p->shared->entered, 1);
	rc = kind->take(lock);
	p->shared->taken_at = bench_now();
	if (rc != 0)
		return rc;
	look(p, &after);
	p->shared->idle = (struct handoff_idle){
		.ns = after.ns - before.ns,
		.attempts = after.attempts - before.attempts,
		.polls = after.polls - before.polls,
		.wakeups = after.wakeups - before.wakeups,
	};
	return kind->give(lock);
}

void handoff_wait(struct handoff_party *p)
{
	struct handoff_shared *shared = p->shared;

	shared->pid = getpid();
	shared->tid = (pid_t)syscall(SYS_gettid);
	while (mailbox_wait(&shared->to_waiter, PATIENCE_NS) == 0) {
		if (shared->order == HANDOFF_QUIT)
			break;
		shared->rc = shared->order == HANDOFF_OPEN ? handoff_open(p) :
							     take(p);
		mailbox_post(&shared->to_holder);
	}
	handoff_close(p);
}
