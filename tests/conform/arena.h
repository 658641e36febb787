/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lock protects, in memory that processes share: it tells when two were
 * inside who must not be, when a count was lost, when a token fell.
 */
#ifndef DLOCK_TESTS_CONFORM_ARENA_H
#define DLOCK_TESTS_CONFORM_ARENA_H

#include <stdatomic.h>
#include <stdint.h>

enum { ARENA_SEATS = 64 };
enum arena_mode { OUTSIDE, READING, WRITING };

/* Atomic throughout, so that only the lock keeps the count from losing some:
 * it is read and written in two steps. */
struct arena {
	atomic_int seat[ARENA_SEATS];   /* enum arena_mode */
	atomic_int doomed[ARENA_SEATS]; /* about to be killed: not counted */
	atomic_int limit;               /* of those READING at once; 0: none */
	atomic_int inside;              /* the killed stay counted */
	atomic_int most;                /* ever inside at once */
	atomic_int overlaps;
	atomic_int tokens_fell;
	_Atomic uint64_t last_token, last_writer;
	_Atomic int64_t count;
};

/* Map the one in `dir`, making it if there is none. */
struct arena *arena_map(const char *dir);
void arena_unmap(struct arena *a);

void arena_enter(struct arena *a, int seat, enum arena_mode mode,
		 uint64_t token);
void arena_leave(struct arena *a, int seat);

#endif
