/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial: a scenario with a system under test.
 *
 * Workers write histories, and lab/history/check.h judges them after the run;
 * the scenario reports violations that no history shows by lab_broken().
 * lab_trial_fail() reports a trial that could not be run, which is no verdict.
 */
#ifndef DLOCK_LAB_TRIAL_H
#define DLOCK_LAB_TRIAL_H

#include "lab/base/clock.h"
#include "lab/history/check.h"
#include "lab/history/history.h"
#include "lab/report/findings.h"
#include "lab/scenarios/scenario.h"
#include "lab/scenarios/sut.h"
#include "lab/scenarios/worker.h"

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdatomic.h>

struct lab_trial {
	const struct lab_scenario *scenario;
	struct lab_sut *sut;
	const char *const *worker_command;
	atomic_bool *stop;
	bool quick;
	uint64_t seed;
	int busy_percent;   /* from so much on the machine is too busy for
			     * verdicts on time */
	int time_scale;     /* 1; more when the trial is repeated on such a
			     * machine: leases and bounds are so many times as
			     * long */
	int64_t ttl_ms;     /* of this trial's holds; 0: no leases */
	int64_t linger_ms;  /* a dead hold may stay in the store so much longer,
			     * by the store's own word */
	int64_t ask_ms;     /* a request may take so much longer than its
			     * timeout */

	char direct[1400];  /* URIs, with prefix and ttl */
	char proxied[1400];
	char name[LAB_NAME];/* of the lock; unique to the trial */
	char dir[512];      /* of histories; a writer's resource is there too */
	bool kept;          /* ... which stays there */
	struct lab_history *history;
	struct lab_worker *workers;
	struct lab_check check;

	/* The outcome. */
	bool failed;
	bool broken;
	bool certain;       /* ... at whatever time things happened */
	bool refused;
	bool lost_declared; /* a declared loss was seen */
	char why[400];
	int64_t found_ms;
	double overlap_ms;  /* the longest, as drawn */

	/* The fault, for the timeline; times of lab_now(), or 0. */
	const char *fault;
	int64_t fault_from, fault_to;

	/* Figures go here, under the mutex: others may be at work. */
	struct lab_findings *findings;
	pthread_mutex_t *mutex;
	size_t store, row;
};

#define LAB_BUSY_PERCENT 20 /* usual */

/* Run the trial and put the outcome into the findings.  A trial that was broken
 * or failed while the machine was too busy runs again, unless no delay can be
 * the reason; the finding tells the first outcome, too. */
void lab_trial_run(struct lab_trial *t);

/* Return the lease of most trials; a ttl in the URI stays. */
int64_t lab_usual_ttl_ms(const struct lab_sut *s, bool quick);

/* Whether the comparison is to end. */
bool lab_trial_stopped(const struct lab_trial *t);

/* Fail the trial: it could not be run; the first reason counts. */
__attribute__((format(printf, 2, 3))) void
lab_trial_fail(struct lab_trial *t, const char *format, ...);

/* Report a violation of the guarantee; the first counts. */
__attribute__((format(printf, 2, 3))) void lab_broken(struct lab_trial *t,
						      const char *format, ...);

/* Report a violation unless `kept`; no-op in a failed trial. */
#define lab_expect(t, kept, ...)                                               \
	do {                                                                   \
		if (!(t)->failed && !(kept))                                   \
			lab_broken((t), __VA_ARGS__);                          \
	} while (0)

/* Add a remark to a kept guarantee; the last counts. */
__attribute__((format(printf, 2, 3))) void lab_remark(struct lab_trial *t,
						      const char *format, ...);

/* Let so much time pass; returns early when the comparison is to end. */
void lab_wait(struct lab_trial *t, int64_t ms);

/* The fault begins and ends. */
void lab_fault_begins(struct lab_trial *t, const char *what);
void lab_fault_ends(struct lab_trial *t);

/* Return how long past a deadline the library, and a busy machine, may take. */
int64_t lab_slack_ms(const struct lab_trial *t);

/* In how many milliseconds a loss, a death must have been found. */
int64_t lab_found_bound_ms(const struct lab_trial *t);
int64_t lab_free_bound_ms(const struct lab_trial *t);

/* Choose the quick or the thorough number. */
int64_t lab_of(const struct lab_trial *t, int64_t quick, int64_t thorough);

/* Add a figure of a single value, or of samples, which are sorted. */
void lab_measured(struct lab_trial *t, const char *id, const char *name,
		  const char *unit, bool more_is_better, double value);
void lab_measured_all(struct lab_trial *t, const char *id, const char *name,
		      const char *unit, double *values, size_t n,
		      double floor_p50, const char *floor);

/* Read the samples of LAB_DO_PAIRS; free().  NULL: the trial has failed. */
double *lab_samples(struct lab_trial *t, const char *file, size_t *n);

/* For lab/scenarios/timeline.c: draw the trial's history. */
void lab_timeline_draw(struct lab_trial *t, const struct lab_record *records,
		       size_t n);

#endif
