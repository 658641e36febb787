/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/history/resource.h"
#include "lab/worker/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 10000
#define MOST_PAIRS 200000
#define LEAST_PACE_NS 20000
#define MOST_LATE 20 /* turns behind at the end: the pace was too fast */
#define MOST_TIMES 4 /* times run_ms, at the longest */

/* ---- In a crowd ---------------------------------------------------------- */

static void write_once(struct lab_executor *w, struct lab_resource *resource)
{
	struct lab_written written;

	if (w->token && resource &&
	    lab_resource_write(resource, w->token, &written) == 0)
		lab_history_wrote(w->history, w->op, w->name, w->token,
				  &written);
}

/* Readers do not write. */
static bool writes(const struct lab_order *e)
{
	return e->mode == LAB_MUTEX || e->mode == LAB_WRITE;
}

void lab_executor_loop(struct lab_executor *w, const struct lab_order *e,
		       struct lab_reply *r)
{
	int64_t end = lab_after_ms(e->run_ms);
	struct lab_resource *resource =
		writes(e) ? lab_resource_open(w->hello.dir, e->name) : NULL;

	do {
		r->rc = lab_executor_acquire(w, e, e->timeout_ms);
		/* A short timeout may end before the answer comes. */
		if (r->rc == DLOCK_EBUSY || (r->rc == DLOCK_EUNREACHABLE &&
					     e->timeout_ms < PATIENCE_MS)) {
			r->rc = DLOCK_OK;
			continue;
		}
		if (r->rc != DLOCK_OK)
			break;
		write_once(w, resource);
		lab_nap_until(lab_now() + e->hold_us * 1000);
		r->rc = lab_executor_release(w);
		/* The release reports the loss: found. */
		if (r->rc == DLOCK_ELOST || r->rc == DLOCK_EUNREACHABLE)
			r->rc = DLOCK_OK;
		r->count++;
	} while (lab_now() < end && r->rc == DLOCK_OK);
	lab_resource_close(resource);
}

/* ---- Two at once --------------------------------------------------------- */

/* For the history these are holds of the members, begun together. */
static int multi_once(struct lab_executor *w, dlock_lock *both,
		      const struct lab_order *e)
{
	const char *const names[2] = { e->name, e->other };
	dlock_hold *h = NULL;
	uint64_t ops[2];
	int rc;

	w->holds.multi = true;
	for (int i = 0; i < 2; i++)
		ops[i] = lab_holds_acquire(&w->holds, names[i], LAB_MUTEX, 0,
					   e->timeout_ms);
	rc = dlock_acquire(both, e->timeout_ms, &h);
	for (size_t i = 0; i < 2; i++) {
		dlock_hold *member = h ? dlock_member(h, i) : NULL;

		lab_holds_acquired(&w->holds, ops[i], rc, member,
				   member ? dlock_token(member) : 0);
	}
	w->holds.multi = false;
	if (rc != DLOCK_OK)
		return rc;
	lab_nap_until(lab_now() + e->hold_us * 1000);
	for (int i = 0; i < 2; i++)
		lab_holds_release(&w->holds, ops[i]);
	rc = dlock_release(h);
	for (int i = 0; i < 2; i++)
		lab_holds_released(&w->holds, ops[i], rc);
	return rc;
}

void lab_executor_multi(struct lab_executor *w, const struct lab_order *e,
			struct lab_reply *r)
{
	int64_t end = lab_after_ms(e->run_ms);
	dlock_lock *l[2] = { NULL, NULL };
	dlock_lock *both = NULL;

	r->rc = dlock_mutex_new(&l[0], w->client, e->name);
	if (r->rc == DLOCK_OK)
		r->rc = dlock_mutex_new(&l[1], w->client, e->other);
	if (r->rc == DLOCK_OK)
		r->rc = dlock_multi_new(&both, l, 2);
	while (r->rc == DLOCK_OK && lab_now() < end) {
		r->rc = multi_once(w, both, e);
		if (r->rc != DLOCK_EBUSY)
			r->count++;
		/* The release reports the loss: found. */
		if (r->rc == DLOCK_EBUSY || r->rc == DLOCK_ELOST)
			r->rc = DLOCK_OK;
	}
	dlock_lock_free(both);
	dlock_lock_free(l[0]);
	dlock_lock_free(l[1]);
}

/* ---- Timed --------------------------------------------------------------- */

/* Without a history, which would cost more than some of the locks. */
static int timed_pair(struct lab_executor *w, const struct lab_order *e)
{
	dlock_hold *h = NULL;
	uint64_t token;
	int rc;

	if (w->foreign) {
		rc = lab_foreign_acquire(w->foreign, e->name, PATIENCE_MS,
					 &token);
		return rc ? rc : lab_foreign_release(w->foreign);
	}
	rc = dlock_acquire(w->lock, PATIENCE_MS, &h);
	return rc ? rc : dlock_release(h);
}

/* Measure how far apart to begin pairs, so that most pairs end before the next
 * begins. */
static int find_pace(struct lab_executor *w, const struct lab_order *e,
		     int64_t *interval)
{
	int64_t begun = 0;
	int rc;

	for (int i = 0; i < 30; i++) {
		if (i == 10)
			begun = lab_now();
		rc = timed_pair(w, e);
		if (rc != DLOCK_OK)
			return rc;
	}
	*interval = (lab_now() - begun) / 20 * 2;
	if (*interval < LEAST_PACE_NS)
		*interval = LEAST_PACE_NS;
	return DLOCK_OK;
}

static int save_samples(struct lab_executor *w, const struct lab_order *e,
			const double *us, int64_t n)
{
	char path[600];
	FILE *out;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", w->hello.dir, e->other);
	out = fopen(path, "we");
	if (!out)
		return DLOCK_ESYSTEM;
	good = fwrite(us, sizeof(*us), (size_t)n, out) == (size_t)n;
	return fclose(out) == 0 && good ? DLOCK_OK : DLOCK_ESYSTEM;
}

/* Time each pair from when the pair was due: a slow pair then shows in the
 * pairs that it delays, too.  Returns how late the last pair began. */
static int64_t time_pairs(struct lab_executor *w, const struct lab_order *e,
			  int64_t interval, double *us, struct lab_reply *r)
{
	int64_t end = lab_after_ms(e->run_ms);
	int64_t last = lab_after_ms(MOST_TIMES * e->run_ms);
	int64_t due = lab_now();
	int64_t late = 0;

	r->count = 0;
	while (r->rc == DLOCK_OK && r->count < MOST_PAIRS &&
	       (lab_now() < end || (r->count < e->count && lab_now() < last))) {
		/* A nap is coarser than the fastest stores: spin there. */
		if (interval > LAB_MS)
			lab_nap_until(due);
		while (lab_now() < due)
			;
		late = lab_now() - due;
		r->rc = timed_pair(w, e);
		us[r->count++] = (double)(lab_now() - due) / 1e3;
		due += interval;
	}
	return late;
}

/* Halve the pace until the store keeps up: at too fast a pace the samples would
 * measure lateness only. */
void lab_executor_pairs(struct lab_executor *w, const struct lab_order *e,
			struct lab_reply *r)
{
	double *us = malloc(MOST_PAIRS * sizeof(*us));
	int64_t last = lab_after_ms(MOST_TIMES * e->run_ms);
	int64_t interval = 0;
	int64_t late = 0;

	r->rc = us ? lab_executor_lock(w, e) : DLOCK_ENOMEM;
	if (r->rc == DLOCK_OK)
		r->rc = find_pace(w, e, &interval);
	do {
		if (r->rc == DLOCK_OK)
			late = time_pairs(w, e, interval, us, r);
		interval *= 2;
	} while (r->rc == DLOCK_OK && late > MOST_LATE * interval &&
		 lab_now() < last);
	if (r->rc == DLOCK_OK)
		r->rc = save_samples(w, e, us, r->count);
	free(us);
}

/* ---- Alone --------------------------------------------------------------- */

/* In the child.  0: good; else the number of the call with a wrong answer. */
static int in_child(struct lab_executor *w)
{
	struct dlock_stats s = { .size = sizeof(s) };
	dlock_hold *h = NULL;

	if (dlock_acquire(w->lock, 0, &h) != DLOCK_EFORKED)
		return 1;
	if (dlock_release(w->hold) != DLOCK_EFORKED)
		return 2;
	if (dlock_check(w->hold) == DLOCK_OK)
		return 3;
	if (dlock_get_stats(w->client, &s) != DLOCK_EFORKED)
		return 4;
	return 0;
}

void lab_executor_fork(struct lab_executor *w, const struct lab_order *e,
		       struct lab_reply *r)
{
	static const char *const calls[] = { "", "dlock_acquire",
					     "dlock_release", "dlock_check",
					     "dlock_get_stats" };
	int status = 0;
	pid_t pid;

	r->rc = lab_executor_acquire(w, e, PATIENCE_MS);
	if (r->rc != DLOCK_OK)
		return;
	pid = fork();
	if (pid == 0)
		_exit(in_child(w));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		r->rc = DLOCK_ESYSTEM;
	else if (!WIFEXITED(status))
		lab_executor_say(r, "the child died of signal %d",
				 WTERMSIG(status));
	else if (WEXITSTATUS(status) < 5 && WEXITSTATUS(status) > 0)
		lab_executor_say(r, "%s worked in a forked child",
				 calls[WEXITSTATUS(status)]);
	if (dlock_check(w->hold) != DLOCK_OK && !*r->text)
		lab_executor_say(r, "the child's end ended the parent's hold");
}
