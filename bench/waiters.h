/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thousand waiters for one mutex, in eight processes of one client each: what
 * they ask of the server while they wait, and what a release costs.
 *
 * They are forked: see crowd.h.
 */
#ifndef DLOCK_BENCH_WAITERS_H
#define DLOCK_BENCH_WAITERS_H

#include "bench/bench.h"

#define WAITERS 1000

/* What the server has heard and said, as it counts it. */
struct waiters_load {
	double heard, said;
};

struct waiters {
	struct bench_run *run;
	const char *uri;
	double idle_s;        /* how long to look while nothing happens */
	/* 0, or what bench_fail() returned; `store` is the bench's. */
	int (*load)(void *store, struct waiters_load *out);
	void *store;
};

struct waiters_figures {
	double idle_s;             /* as it turned out */
	struct waiters_load idle;  /* in that time */
	struct waiters_load chain; /* per release */
	double chain_s;
	double wakes;              /* per release, of all clients */
};

/* Sets value, p50, p99 and samples of `res`: nanoseconds from a release until
 * the next has it. */
int waiters_measure(const struct waiters *w, struct waiters_figures *out,
		    struct bench_result *res);

#endif
