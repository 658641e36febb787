/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: processes that take locks, write to what the locks guard, and note
 * all of it.  A worker runs until descriptor 3 reads end of file, and ends with
 * 0 if it had no trouble of its own; what a store does is no trouble.
 */
#ifndef DLOCK_CHAOS_WORKER_H
#define DLOCK_CHAOS_WORKER_H

#include <stdatomic.h>
#include <stdint.h>

#define CHAOS_HANDS 16 /* threads of a worker */
#define CHAOS_LEASH 3
#define CHAOS_PAGE "page" /* in the directory */

/* What it is told, in its arguments. */
struct chaos_job {
	const char *uri;
	const char *dir;
	uint64_t seed;
	int threads;
	int64_t ttl_ms;
	int seldom; /* percent of uses that go to the last of the names */
};

/* Shared by all workers and the controller. */
struct chaos_page {
	atomic_uint_least64_t rounds;
	atomic_uint_least64_t granted;
	atomic_uint_least64_t accepted; /* writes */
	atomic_uint_least64_t refused;
	atomic_uint_least64_t again;     /* re-entrant acquires */
	atomic_uint_least64_t cancelled;
	atomic_uint_least64_t at_risk;
	atomic_uint_least64_t safe;
	atomic_uint_least64_t opened;
	atomic_uint_least64_t not_opened; /* tries that failed */
	atomic_uint_least64_t odd; /* answers that there is no reason for */
	char odd_words[256];       /* the first of them */
};

struct chaos_page *chaos_page_map(const char *dir);

/* main() of a worker. */
int chaos_worker(const struct chaos_job *job);

#endif
