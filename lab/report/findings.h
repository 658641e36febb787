/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: the results of a comparison, as plain data for report writers.
 *
 * All data hangs on a struct lab_findings and lives as long as it does: strings
 * and arrays are copies, freed by lab_findings_free().  Strings are UTF-8,
 * never NULL unless a member says so, and may come from strangers (a server's
 * version, an error message): writers escape them.
 *
 * Fill the struct in by the functions at the end; pointers into arrays are
 * valid until the next call of such a function.  Out of memory is remembered,
 * and told by lab_findings_ok().  One thread at a time.
 */
#ifndef DLOCK_LAB_FINDINGS_H
#define DLOCK_LAB_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The outcome of a scenario with a store: name, in words for people, and for
 * programs.  From harmless to worst; an outcome above LAB_OUTCOME_BROKEN is a
 * lie.
 */
#define LAB_OUTCOMES(X)                                                        \
	X(NOT_RUN, "not run", "not-run")                                       \
	X(KEPT, "kept", "kept")                                                \
	X(REFUSED, "refused as declared", "refused")                           \
	X(LOSS, "declared loss seen", "declared-loss")                         \
	X(BROKEN, "broken", "broken")                                          \
	X(LIE, "DECLARED BUT BROKEN", "declared-but-broken")

enum lab_outcome {
#define X(name, words, key) LAB_OUTCOME_##name,
	LAB_OUTCOMES(X)
#undef X
	LAB_NOUTCOMES
};

/* "kept", and "declared-loss"; static. */
const char *lab_outcome_words(enum lab_outcome outcome);
const char *lab_outcome_key(enum lab_outcome outcome);

/* The circumstances of a run. */
struct lab_run {
	int64_t began;       /* seconds since 1970 */
	int64_t took_ms;
	const char *version; /* of dlock */
	const char *machine; /* "2 x AMD EPYC, 7.8 GB, Linux 6.1 x86_64" */
	int busy_percent;    /* of the time: lab/scenarios/load.h */
	const char *options; /* as on the command line: "--lab --quick" */
	uint64_t seed;
	bool quick;
	bool lab;            /* servers of our own, faults included */
	bool interrupted;    /* missing findings were not reached */
};

/* A system under test: a store, or a foreign command. */
struct lab_store {
	const char *name;    /* short, unique: "redis", "zk-3", "flock.sh" */
	const char *uri;     /* no password; a foreign lock's command */
	const char *server;  /* "redis 7.0.15"; or "" */
	const char *settings;/* of interest: "appendonly no, save none" */
	const char *trouble; /* why no scenario ran; "" usually */
	int64_t ttl_ms;      /* the lease of most trials, or 0 */
	uint32_t caps;       /* DLOCK_CAP_ bits */
	bool foreign;        /* declares no capabilities */
};

/* A scenario, in the order of tables. */
struct lab_about {
	const char *id;        /* "holder-killed" */
	const char *title;     /* "holder killed" */
	const char *guarantee; /* a sentence: the guarantee */
	bool fault;            /* store or network suffer a fault */
};

/* The result of a scenario with a store. */
struct lab_finding {
	enum lab_outcome outcome;
	const char *why;  /* in words, a sentence or two; "" if kept plainly */
	int64_t found_ms; /* from the loss to LOST; -1: does not apply */
	int64_t took_ms;  /* the trial */
	const char *log;  /* where the histories are kept, or "" */
};

#define LAB_CURVE 61 /* points of a percentile curve */

/* A measurement.  Times are counted from the intended start. */
struct lab_figure {
	size_t store;         /* index */
	size_t scenario;      /* index */
	const char *id;       /* "pair": the same in every store */
	const char *name;     /* "acquire + release" */
	const char *unit;     /* "us", "ms", "1/s", "bytes", "" */
	bool more_is_better;
	uint64_t samples;
	double p50, p99, max; /* of a single sample: all the same */
	double floor_p50;     /* the bare transport's; < 0: no floor */
	const char *floor;    /* what the floor is: "PING" */
	bool has_curve;
	double curve[LAB_CURVE]; /* value at lab_curve_at(i) */
};

/* Return the part of the samples, 0 to 1, that is at or below curve[i]: steps
 * get finer towards the end, twelve from each of 0, .9, .99, .999 to the
 * next. */
double lab_curve_at(size_t i);

/* A participant believed to hold, in ms since the fault began. */
struct lab_belief {
	size_t participant;  /* index */
	double from, to;
	uint64_t token;    /* or 0 */
	bool shared;
};

struct lab_mark {
	size_t participant;
	double at;
	const char *text;  /* "LOST", "killed", "paused", "released" */
};

struct lab_overlap {
	double from, to;
};

/* Which participant believed to hold when, around a fault. */
struct lab_timeline {
	size_t store;
	size_t scenario;
	const char *fault;   /* "the server is killed and started again" */
	double fault_to;     /* the fault began at 0 and ended here; < 0: did
			      * not end */
	double from, to;     /* the part to draw */
	const char **participants; /* "A: holder" */
	size_t n_participants;
	struct lab_belief *beliefs;
	size_t n_beliefs;
	struct lab_mark *marks;
	size_t n_marks;
	struct lab_overlap *overlaps;
	size_t n_overlaps;
};

struct lab_findings {
	struct lab_run run;
	struct lab_store *stores;
	size_t n_stores;
	struct lab_about *scenarios;
	size_t n_scenarios;
	struct lab_finding *cells; /* use lab_finding() */
	struct lab_figure *figures;
	size_t n_figures;
	struct lab_timeline *timelines;
	size_t n_timelines;
	struct lab_findings_memory *memory;
};

/* Return the finding, also to be changed; every pair has a cell. */
struct lab_finding *lab_finding(const struct lab_findings *f, size_t store,
				size_t scenario);

/* Return the figure `id` of a store, NULL if it was not measured. */
const struct lab_figure *lab_figure(const struct lab_findings *f, size_t store,
				    const char *id);

/* Return the worst outcome: the exit status depends on it. */
enum lab_outcome lab_findings_worst(const struct lab_findings *f);

void lab_findings_free(struct lab_findings *f); /* NULL is a no-op */

/* ---- Filling in ---------------------------------------------------------- */

/* Stores first, scenarios next, then the rest.  NULL: out of memory. */
struct lab_findings *lab_findings_new(void);
bool lab_findings_ok(const struct lab_findings *f);

/* Return a copy that lives as long as `f`. */
__attribute__((format(printf, 2, 3))) const char *
lab_findings_text(struct lab_findings *f, const char *format, ...);

/* Add an element; members other than indexes and strings are zero, strings "".
 * Figures and timelines stand in the order of scenarios, then of stores,
 * however they come in.  NULL: out of memory. */
struct lab_store *lab_findings_store(struct lab_findings *f);
struct lab_about *lab_findings_scenario(struct lab_findings *f);
struct lab_figure *lab_findings_figure(struct lab_findings *f, size_t store,
				       size_t scenario);
struct lab_timeline *lab_findings_timeline(struct lab_findings *f, size_t store,
					   size_t scenario);

/* Make the cells, all NOT_RUN, once stores and scenarios are there. */
bool lab_findings_cells(struct lab_findings *f);

/* Take back the figures and timelines of a cell. */
void lab_findings_forget(struct lab_findings *f, size_t store,
			 size_t scenario);

/* Of a timeline of `f`; the participant's index. */
size_t lab_timeline_participant(struct lab_findings *f, struct lab_timeline *t,
			  const char *name);
void lab_timeline_belief(struct lab_findings *f, struct lab_timeline *t,
			 struct lab_belief belief);
void lab_timeline_mark(struct lab_findings *f, struct lab_timeline *t,
		       size_t participant, double at, const char *text);
void lab_timeline_overlap(struct lab_findings *f, struct lab_timeline *t,
			  double from, double to);

/* Fill in samples, p50, p99, max and, from 20 samples on, the curve.  Sorts
 * `values`. */
void lab_figure_samples(struct lab_figure *figure, double *values, size_t n);

#endif
