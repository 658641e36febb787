/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison: every scenario with every system under test.
 *
 * All files are in a temporary directory, which goes when the process does, in
 * whatever way; so do servers and workers.
 */
#ifndef DLOCK_LAB_COMPARE_H
#define DLOCK_LAB_COMPARE_H

#include "lab/report/findings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_sut_kind;

struct lab_progress {
	const char *store;     /* of the last trial */
	const char *scenario; /* "" while systems are started */
	enum lab_outcome outcome;
	size_t done, total;
	int64_t left_ms;       /* a guess; or -1 */
};

struct lab_compare_options {
	const char *const *uris;
	size_t n_uris;
	const char *const *commands; /* foreign locks */
	size_t n_commands;
	/* Servers to start, ending in NULL; NULL: lab_sut_kinds. */
	const struct lab_sut_kind *const *kinds;
	bool lab;              /* also private servers, faults included */
	bool quick;
	uint64_t seed;
	const char *only;      /* ids, or their beginnings, with commas; NULL */
	const char *keep;      /* keep histories here; made.  NULL: nowhere */
	const char *text;      /* of the options, for the report */
	/* The command line for main() to call lab_worker_main(), ending in
	 * NULL. */
	const char *const *worker_command;
	atomic_bool *stop;     /* set from anywhere: end as soon as may be */
	/* Called once at a time, from any thread.  May be NULL. */
	void (*progress)(const struct lab_progress *p, void *arg);
	void *arg;
};

/* Run the comparison.  0: `out` is there, to be freed, also if stopped
 * half-way; -1: lab_errmsg(). */
int lab_compare(const struct lab_compare_options *options,
		struct lab_findings **out);

/* Whether `only` selects a scenario.  NULL, or the word without a scenario, to
 * be freed. */
char *lab_compare_unknown(const char *only);

#endif
