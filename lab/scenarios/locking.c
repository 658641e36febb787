/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios without a fault: what locks are for. */
#include "lab/scenarios/scene.h"

#include <stdio.h>

#define PERMITS 2
#define WAITERS 5

static void expect_busy(struct lab_trial *t, const struct lab_reply *r,
			const char *when)
{
	lab_expect(t, r->rc == DLOCK_EBUSY, "%s: \"%s\", not busy", when,
		   r->rc == DLOCK_OK ? "granted" : r->text);
}

/* Run four clients at once; the history tells who held with whom.  The conform
 * case: exclusion_*. */
void lab_run_exclusion(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_MUTEX, LAB_MUTEX, LAB_MUTEX,
						LAB_MUTEX };
	int64_t ms = lab_of(t, 400, 2000);
	int64_t granted = lab_crowd(t, modes, 4, 0, 0, ms);

	lab_measured(t, "contended", "grants to 4 clients that compete", "1/s",
		     true, (double)granted * 1000 / (double)ms);
}

/* The conform case: mutex_try. */
void lab_run_try(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_worker *b = lab_join(t, "B", 0);
	struct lab_reply r = lab_take(a, 0);
	int64_t ms;

	lab_expect(t, r.rc == DLOCK_OK, "a free lock was not granted: %s",
		   r.text);
	r = lab_take(b, 0);
	ms = (r.ended - r.begun) / LAB_MS;
	expect_busy(t, &r, "a held lock");
	lab_expect(t, ms <= t->ask_ms + lab_slack_ms(t), "a try took %d ms",
		   (int)ms);
	lab_give(a);
	lab_scene_free(t, b, "it was not free after the release");
}

/* The conform case: wait_ends_in_time. */
void lab_run_timed_wait(struct lab_trial *t)
{
	const int64_t wait_ms = 300;
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_worker *b = lab_join(t, "B", 0);
	struct lab_reply r;
	int64_t ms;

	lab_take(a, LAB_LONG_MS);
	r = lab_take(b, wait_ms);
	ms = (r.ended - r.begun) / LAB_MS;
	expect_busy(t, &r, "a held lock");
	/* A foreign command's clock may be coarse. */
	lab_expect(t, ms >= wait_ms - (t->sut->foreign ? 50 : 0),
		   "a wait of 300 ms ended after %d ms", (int)ms);
	lab_expect(t,
		   ms <= wait_ms + t->ask_ms + lab_slack_ms(t) +
				   (t->sut->foreign ? 1000 : 0),
		   "a wait of 300 ms ended after %d ms", (int)ms);
	lab_give(a);
	lab_scene_free(t, b,
		       "who had given up could not take it when it was free");
}

/* After a violation the holder is unknown, and a holder that asks again would
 * be noted as another. */
static void may(struct lab_trial *t, struct lab_worker *p, enum lab_mode mode,
		const char *otherwise)
{
	struct lab_reply r;

	if (t->broken)
		return;
	r = lab_take_as(p, mode, 0, LAB_ANSWER_MS);
	lab_expect(t, r.rc == DLOCK_OK, "%s: %s", otherwise, r.text);
}

static void may_not(struct lab_trial *t, struct lab_worker *p,
		    enum lab_mode mode, const char *when)
{
	struct lab_reply r;

	if (t->broken)
		return;
	r = lab_take_as(p, mode, 0, 0);
	expect_busy(t, &r, when);
}

/* Check that readers share.  A crowd would do with turns, too. */
static void share(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_worker *b = lab_join(t, "B", 0);
	struct lab_worker *c = lab_join(t, "C", 0);

	may(t, a, LAB_READ, "a free lock was not granted");
	may(t, b, LAB_READ, "B could not read while A did");
	may_not(t, c, LAB_WRITE, "C asked to write while A and B read");
	lab_give(a);
	may_not(t, c, LAB_WRITE, "C asked to write while B read");
	lab_give(b);
	may(t, c, LAB_WRITE, "it was not free when all had read");
	may_not(t, a, LAB_READ, "A asked to read while C wrote");
	lab_give(c);
	lab_leave(a);
	lab_leave(b);
	lab_leave(c);
}

/* The conform case: rwlock_*. */
void lab_run_read_write(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_WRITE, LAB_READ, LAB_READ,
						LAB_WRITE };

	share(t);
	lab_crowd(t, modes, 4, 0, 0, lab_of(t, 400, 1500));
}

/* Check that all permits can be held at once.  A crowd would do with fewer. */
static void exhaust(struct lab_trial *t)
{
	static const char *const names[PERMITS + 1] = { "A", "B", "C" };
	struct lab_worker *p[PERMITS + 1];
	struct lab_reply r;

	for (int i = 0; i <= PERMITS; i++)
		p[i] = lab_join(t, names[i], 0);
	for (int i = 0; i < PERMITS; i++) {
		r = lab_take_as(p[i], LAB_PERMIT, PERMITS, LAB_ANSWER_MS);
		lab_expect(t, r.rc == DLOCK_OK,
			   "permit %d of %d could not be had: %s", i + 1,
			   PERMITS, r.text);
	}
	r = lab_take_as(p[PERMITS], LAB_PERMIT, PERMITS, 0);
	expect_busy(t, &r, "asked while all were held");
	for (int i = 0; i < PERMITS; i++)
		lab_give(p[i]);
	for (int i = 0; i <= PERMITS; i++)
		lab_leave(p[i]);
}

/* The conform case: semaphore_permits. */
void lab_run_semaphore(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_PERMIT, LAB_PERMIT,
						LAB_PERMIT, LAB_PERMIT };

	exhaust(t);
	lab_crowd(t, modes, 4, PERMITS, 0, lab_of(t, 400, 1500));
}

/* Have two workers take both locks, named in opposite order.  The conform
 * case: multi_opposite. */
void lab_run_multi(struct lab_trial *t)
{
	struct lab_worker *p[2] = { lab_join(t, "A", 0), lab_join(t, "B", 0) };
	struct lab_order e = { .verb = LAB_DO_MULTI,
			       .timeout_ms = LAB_LONG_MS,
			       .run_ms = lab_of(t, 300, 1500),
			       .hold_us = 300 };

	for (int i = 0; i < 2; i++) {
		snprintf(i ? e.other : e.name, LAB_NAME, "%.30s-x", t->name);
		snprintf(i ? e.name : e.other, LAB_NAME, "%.30s-y", t->name);
		lab_tell(p[i], &e);
	}
	for (int i = 0; i < 2; i++) {
		struct lab_reply r = lab_hear(p[i], LAB_LONG_MS);

		lab_expect(t, r.rc == DLOCK_OK, "%s: %s", p[i]->label, r.text);
		lab_expect(t, r.count > 0, "%s never got both", p[i]->label);
	}
}

/* Return how many that had asked before `at` still wait. */
static int before(const bool waits[WAITERS], int at)
{
	int n = 0;

	for (int i = 0; i < at; i++)
		n += waits[i];
	return n;
}

/* Let the lock go round among the waiters, who stand in order.  Returns how
 * many grants passed a waiter over. */
static int go_round(struct lab_trial *t, struct lab_worker *w[WAITERS])
{
	bool waits[WAITERS] = { true, true, true, true, true };
	int64_t deadline = lab_after_ms(LAB_LONG_MS / 3);
	int over = 0;
	int left = WAITERS;

	while (left && !t->failed && !t->broken && lab_now() < deadline) {
		for (int i = 0; i < WAITERS; i++) {
			struct lab_reply r;

			if (!waits[i] || lab_busy(w[i], 1))
				continue;
			r = lab_hear(w[i], 0);
			lab_expect(t, r.rc == DLOCK_OK, "%s: %s", w[i]->label,
				   r.text);
			over += before(waits, i) > 0;
			waits[i] = false;
			left--;
			lab_give(w[i]);
		}
	}
	lab_expect(t, !left, "%d of %d were never granted it", left, WAITERS);
	return over;
}

/* The conform case: wait_fair. */
void lab_run_fairness(struct lab_trial *t)
{
	static const char *const names[WAITERS] = { "W1", "W2", "W3", "W4",
						    "W5" };
	struct lab_worker *h = lab_join(t, "holder", 0);
	struct lab_worker *w[WAITERS];
	int rounds = (int)lab_of(t, 3, 10);
	int over = 0;

	for (int i = 0; i < WAITERS; i++)
		w[i] = lab_join(t, names[i], 0);
	for (int round = 0; round < rounds && !t->failed && !t->broken;
	     round++) {
		lab_take(h, LAB_LONG_MS);
		for (int i = 0; i < WAITERS; i++) {
			lab_tell_take(w[i], LAB_LONG_MS);
			lab_await_waiting(w[i]);
		}
		lab_give(h);
		over += go_round(t, w);
	}
	lab_measured(t, "passed-over", "grants that passed a waiter over", "%",
		     false, 100.0 * over / (rounds * WAITERS));
	if (t->sut->foreign || t->sut->caps & DLOCK_CAP_FAIR)
		lab_expect(t, over == 0,
			   "%s%d of %d grants passed over who "
			   "had asked before",
			   t->sut->foreign ? "" : "declares FAIR, and ", over,
			   rounds * WAITERS);
	else
		lab_remark(t,
			   "not declared; %d of %d grants passed over who "
			   "had asked before",
			   over, rounds * WAITERS);
}

/* The conform case: fork_child_refused. */
void lab_run_fork(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", LAB_JOIN_ALONE);
	struct lab_order e = { .verb = LAB_DO_FORK };
	struct lab_reply r;

	snprintf(e.name, sizeof(e.name), "%s", t->name);
	r = lab_do(a, &e);
	lab_expect(t, r.rc == DLOCK_OK && !*r.text, "%s", r.text);
	r = lab_give(a);
	lab_expect(t, r.rc == DLOCK_OK,
		   "the parent's hold ended with its child: %s", r.text);
}
