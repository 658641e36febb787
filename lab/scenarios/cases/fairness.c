/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#define WAITERS 5

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
			lab_expect(t, r.rc == DLOCK_OK, "%s: %s",
				   lab_worker_label(w[i]), r.text);
			over += before(waits, i) > 0;
			waits[i] = false;
			left--;
			lab_give(w[i]);
		}
	}
	lab_expect(t, !left, "%d of %d were never granted it", left, WAITERS);
	return over;
}

static void run_fairness(struct lab_trial *t)
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

/* The conform case: wait_fair. */
const struct lab_scenario lab_scenario_fairness = {
	.id = "fairness",
	.title = "fairness",
	.guarantee = "who asked first is granted first",
	.place = 90,
	.caps = DLOCK_CAP_FAIR,
	.even_without = true,
	.run = run_fairness,
};
