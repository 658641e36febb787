/* SPDX-License-Identifier: Apache-2.0 */
/* Trials that run again, and trials with a final first verdict. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lab/scenarios/trial.h"
#include "temp.h"

#define ALWAYS_BUSY 0 /* as on a busy machine */
#define NEVER_BUSY 101

TestSuite(trial, .timeout = 60);

static int runs;
static int most_time_scale;

static void note(struct lab_trial *t)
{
	runs++;
	most_time_scale = t->time_scale;
	lab_measured(t, "runs", "how often it has run", "", false, runs);
}

static void slow_at_first(struct lab_trial *t)
{
	note(t);
	lab_fault_begins(t, "none");
	lab_fault_ends(t);
	lab_expect(t, runs > 1, "the first was late");
}

static void never_kept(struct lab_trial *t)
{
	note(t);
	lab_expect(t, false, "number %d was late", runs);
}

static void never_tried(struct lab_trial *t)
{
	note(t);
	lab_trial_fail(t, "number %d could not be tried", runs);
}

/* Two holders of a mutex, which no delay explains. */
static void two_at_once(struct lab_trial *t)
{
	uint64_t op[2];

	note(t);
	for (int i = 0; i < 2; i++) {
		op[i] = lab_history_acquire(t->history, t->name, LAB_MUTEX, 0,
					    0);
		lab_history_acquired(t->history, op[i], DLOCK_OK, 0,
				     LAB_FOREVER);
	}
	for (int i = 0; i < 2; i++)
		lab_history_release(t->history, op[i], LAB_FOREVER);
}

/* A hold after the end of the lease, before the notice. */
static void lost_late(struct lab_trial *t)
{
	uint64_t op;

	note(t);
	op = lab_history_acquire(t->history, t->name, LAB_MUTEX, 0, 0);
	lab_history_acquired(t->history, op, DLOCK_OK, 0,
			     lab_now() - (runs < 2 ? 2 * lab_slack_ms(t) : 0) *
						 LAB_MS);
	lab_history_lost(t->history, op);
}

/* Free the findings with lab_findings_free(). */
static struct lab_findings *try(void (*run)(struct lab_trial *t),
				int busy_percent)
{
	static struct lab_scenario b = { .id = "made-up",
					 .title = "made up",
					 .guarantee = "none" };
	static struct lab_sut s = { .name = "none" };
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool stop;
	static struct lab_trial t;
	char dir[PATH_MAX];

	b.run = run;
	t = (struct lab_trial){ .scenario = &b,
				.sut = &s,
				.stop = &stop,
				.busy_percent = busy_percent,
				.time_scale = 1,
				.mutex = &mutex,
				.findings = lab_findings_new() };
	cr_assert_eq(temp_make(dir), 0);
	snprintf(t.dir, sizeof(t.dir), "%.400s/made-up", dir);
	cr_assert(lab_findings_store(t.findings));
	cr_assert(lab_findings_scenario(t.findings));
	cr_assert(lab_findings_cells(t.findings));
	lab_trial_run(&t);
	/* A repeated trial forgets the first attempt. */
	cr_assert_eq(t.findings->n_figures, 1);
	cr_assert_eq(t.findings->figures[0].p50, runs);
	cr_assert_leq(t.findings->n_timelines, 1);
	return t.findings;
}

Test(trial, runs_again_where_the_machine_may_be_the_reason)
{
	static const struct {
		void (*run)(struct lab_trial *t);
		int busy_percent, runs;
		enum lab_outcome outcome;
		const char *says, *also;
	} rows[] = {
		{ slow_at_first, ALWAYS_BUSY, 2, LAB_OUTCOME_KEPT,
		  "tried again", "the first was late" },
		{ slow_at_first, NEVER_BUSY, 1, LAB_OUTCOME_LIE, "", "" },
		{ never_kept, ALWAYS_BUSY, 3, LAB_OUTCOME_LIE,
		  "number 3 was late", "" },
		{ two_at_once, ALWAYS_BUSY, 1, LAB_OUTCOME_LIE, "at once", "" },
		{ lost_late, ALWAYS_BUSY, 2, LAB_OUTCOME_KEPT,
		  "not told in time", "" },
		{ never_tried, ALWAYS_BUSY, 3, LAB_OUTCOME_NOT_RUN, "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_finding *c;
		struct lab_findings *f;

		runs = 0;
		f = try(rows[i].run, rows[i].busy_percent);
		c = lab_finding(f, 0, 0);
		cr_expect_eq(runs, rows[i].runs, "row %zu: %d", i, runs);
		cr_expect_eq(most_time_scale, 1 << (runs - 1));
		cr_expect_eq(c->outcome, rows[i].outcome, "row %zu: %s", i,
			     c->why);
		cr_expect(strstr(c->why, rows[i].says) &&
				  strstr(c->why, rows[i].also),
			  "row %zu: %s", i, c->why);
		lab_findings_free(f);
	}
}

static void add(struct lab_findings *f, size_t store, size_t row,
		const char *id)
{
	struct lab_figure *g = lab_findings_figure(f, store, row);
	struct lab_timeline *t = lab_findings_timeline(f, store, row);

	cr_assert(g && t);
	cr_assert_eq(g->samples, 0, "it is not empty");
	cr_assert_eq(t->n_beliefs, 0, "it is not empty");
	g->id = id;
	g->samples = 1;
	lab_timeline_belief(f, t, (struct lab_belief){ .from = 1, .to = 2 });
}

Test(trial, findings_stand_in_order_and_are_taken_back)
{
	static const char *const order[] = { "a", "b", "c", "d" };
	struct lab_findings *f = lab_findings_new();

	for (int i = 0; i < 2; i++)
		cr_assert(lab_findings_store(f) && lab_findings_scenario(f));
	add(f, 1, 1, "d");
	add(f, 0, 1, "x");
	add(f, 0, 0, "a");
	add(f, 0, 1, "y");
	lab_findings_forget(f, 0, 1);
	cr_assert_eq(f->n_figures, 2);
	cr_assert_eq(f->n_timelines, 2);
	add(f, 0, 1, "b");
	add(f, 0, 1, "c");
	cr_assert_eq(f->n_figures, 4);
	for (size_t i = 0; i < 4; i++)
		cr_assert_str_eq(f->figures[i].id, order[i]);
	cr_assert_eq(f->timelines[0].scenario, 0);
	cr_assert_eq(f->timelines[3].store, 1);
	lab_findings_free(f);
}
