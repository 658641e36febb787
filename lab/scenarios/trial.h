/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial: one scenario with one system under test.
 *
 * Its workers write histories, and lab/history/check.h judges these when it is
 * over; what histories do not tell, the scenario says with lab_broken().  What
 * could not be tried is said with lab_trial_fail(), and is no verdict.
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
			     * verdicts that are a matter of time */
	int time_scale;     /* 1; more when it is tried again on such a one:
			     * leases and bounds are so many times as long */
	int64_t ttl_ms;     /* of this trial's holds; 0: none expire */
	int64_t linger_ms;  /* a dead one may stay in the store so much longer,
			     * as the store says */
	int64_t ask_ms;     /* past its timeout a request may take so long */

	char direct[1400];  /* URIs, with prefix and ttl */
	char proxied[1400];
	char name[LAB_NAME];/* of the lock; no other trial has it */
	char dir[512];      /* of histories; a writer's resource is there too */
	bool kept;          /* ... which stays there */
	struct lab_history *history;
	struct lab_worker *workers;
	struct lab_check check;

	/* What came of it. */
	bool failed;
	bool broken;
	bool certain;       /* ... at whatever time things happened */
	bool refused;
	bool lost_declared; /* a loss that the store had declared was seen */
	char why[400];
	int64_t found_ms;
	double overlap_ms;  /* the longest, as drawn */

	/* The fault, for the timeline; times of lab_now(), 0: none. */
	const char *fault;
	int64_t fault_from, fault_to;

	/* Figures go here, under the mutex: others may be at work. */
	struct lab_findings *findings;
	pthread_mutex_t *mutex;
	size_t store, row;
};

#define LAB_BUSY_PERCENT 20 /* usual */

/* Run it and put what came of it into the findings.  What is broken, or could
 * not be tried, while the machine was too busy is tried again, unless no delay
 * can be the reason; what it was at first is told. */
void lab_trial_run(struct lab_trial *t);

/* For that: read the history, say what is broken; and the verdict. */
void lab_trial_judge(struct lab_trial *t);
enum lab_outcome lab_trial_outcome(const struct lab_trial *t);

/* The lease of most trials; what the URI says stays. */
int64_t lab_usual_ttl_ms(const struct lab_sut *s, bool quick);

/* Somebody wants all of it to end. */
bool lab_trial_stopped(const struct lab_trial *t);

/* It could not be tried; the first reason counts. */
__attribute__((format(printf, 2, 3))) void
lab_trial_fail(struct lab_trial *t, const char *format, ...);

/* What is to be kept was not; the first counts. */
__attribute__((format(printf, 2, 3))) void lab_broken(struct lab_trial *t,
						      const char *format, ...);

/* Say so unless `kept`; nothing in a trial that has failed. */
#define lab_expect(t, kept, ...)                                               \
	do {                                                                   \
		if (!(t)->failed && !(kept))                                   \
			lab_broken((t), __VA_ARGS__);                          \
	} while (0)

/* More to be said of what was kept; the last counts. */
__attribute__((format(printf, 2, 3))) void lab_remark(struct lab_trial *t,
						      const char *format, ...);

/* Let so much time pass; not once somebody wants all of it to end. */
void lab_wait(struct lab_trial *t, int64_t ms);

/* The fault begins and ends. */
void lab_fault_begins(struct lab_trial *t, const char *what);
void lab_fault_ends(struct lab_trial *t);

/* What the library allows itself beyond a deadline, and a busy machine. */
int64_t lab_slack_ms(const struct lab_trial *t);

/* In how many milliseconds a loss, a death must have been found. */
int64_t lab_found_bound_ms(const struct lab_trial *t);
int64_t lab_free_bound_ms(const struct lab_trial *t);

/* The quick one of two numbers, or the thorough one. */
int64_t lab_of(const struct lab_trial *t, int64_t quick, int64_t thorough);

/* A number of one value, and of samples, which are sorted. */
void lab_measured(struct lab_trial *t, const char *id, const char *name,
		  const char *unit, bool more_is_better, double value);
void lab_measured_all(struct lab_trial *t, const char *id, const char *name,
		      const char *unit, double *values, size_t n,
		      double floor_p50, const char *floor);

/* The samples that LAB_DO_PAIRS left; free().  NULL: the trial has failed. */
double *lab_samples(struct lab_trial *t, const char *file, size_t *n);

/* For lab/scenarios/timeline.c: draw what the trial's history tells. */
void lab_timeline_draw(struct lab_trial *t, const struct lab_record *records,
		       size_t n);

#endif
