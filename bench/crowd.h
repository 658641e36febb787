/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes that do the same at a time, and count.
 *
 * They are forked, so that this process must have no other thread and no client
 * open when it starts them.
 */
#ifndef DLOCK_BENCH_CROWD_H
#define DLOCK_BENCH_CROWD_H

#include "bench/bench.h"

#include <stdatomic.h>

#define CROWD_MOST 8

/* In memory that all processes see. */
struct crowd_shared {
	_Atomic uint32_t ready, begin, stop, failed;
	_Atomic uint64_t count; /* what `work` counts */
	_Atomic uint64_t wakes; /* likewise */
	_Atomic uint32_t last;  /* who did it last, from 1 */
	_Atomic int64_t at[2];  /* two points in time */
};

struct crowd {
	struct bench_run *run;
	struct crowd_shared *shared;
	/* Work until shared->stop; call crowd_gate() when set up.  0 or what
	 * bench_fail() returned. */
	int (*work)(struct crowd *c, uint32_t me, void *arg);
	void *arg;
	int mortal; /* they are to be killed: it is no failure */
	int pids[CROWD_MOST];
	unsigned int n;
};

int crowd_start(struct crowd *c, unsigned int n);

/* In a worker: all is set up; return when all may begin. */
void crowd_gate(struct crowd *c);

/* Wait until all workers are at their gate, and open it. */
int crowd_begin(struct crowd *c);

/* Tell all to stop, and wait for them.  -1: one failed. */
int crowd_end(struct crowd *c);

#endif
