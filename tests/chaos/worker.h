/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: the threads of these processes take locks, write to the guarded
 * resources, and record all calls.  A worker runs until descriptor 3 reads end
 * of file, and exits with 0, whatever the store answered, unless the worker
 * fails.
 */
#ifndef DLOCK_CHAOS_WORKER_H
#define DLOCK_CHAOS_WORKER_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>

#include "chaos/feature.h"

#define CHAOS_THREADS 16 /* of a worker */
#define CHAOS_STOP_FD 3
#define CHAOS_COUNTERS "counters" /* in the directory */

/* A worker's arguments. */
struct chaos_job {
	const char *uri;
	const char *dir;
	uint64_t seed;
	int threads;
	int64_t ttl_ms;
	int mix; /* use all features */
};

/* Shared by all workers and the controller. */
struct chaos_counters {
	atomic_uint_least64_t uses;
	atomic_uint_least64_t granted;
	atomic_uint_least64_t accepted; /* writes */
	atomic_uint_least64_t refused;
	atomic_uint_least64_t again;     /* re-entrant acquires */
	atomic_uint_least64_t cancelled;
	atomic_uint_least64_t at_risk;
	atomic_uint_least64_t safe;
	atomic_uint_least64_t opened;
	atomic_uint_least64_t not_opened; /* failed tries */
	atomic_uint_least64_t feature[CHAOS_NFEATURES]; /* uses */
	atomic_uint_least64_t unexpected; /* answers without a fault behind */
	char unexpected_text[256];        /* the first of them */
};

struct chaos_counters *chaos_counters_map(const char *dir);

/* main() of a worker. */
int chaos_worker_main(const struct chaos_job *job);

/* A note behind the record of an acquire, with the op: asynchronous. */
#define CHAOS_ASYNC "asynchronous "
#define CHAOS_ASYNC_NOTE CHAOS_ASYNC "%" PRIx64

#endif
