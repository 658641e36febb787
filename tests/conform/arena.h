/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resource under the lock, in memory that processes share. The arena counts
 * overlaps of workers that must exclude each other, and falling tokens. Writers
 * increment a count that must not lose an increment.
 */
#ifndef DLOCK_TESTS_CONFORM_ARENA_H
#define DLOCK_TESTS_CONFORM_ARENA_H

#include <stdatomic.h>
#include <stdint.h>

enum { ARENA_SLOTS = 64 };
enum arena_mode { OUTSIDE, READING, WRITING };

/* All members are atomic, but a writer reads and writes `count` in two steps,
 * so only the lock protects the count. */
struct arena {
	atomic_int slot[ARENA_SLOTS];   /* enum arena_mode */
	atomic_int doomed[ARENA_SLOTS]; /* about to be killed: not counted */
	atomic_int limit;  /* most workers READING at once; 0: no limit */
	atomic_int inside; /* includes killed workers */
	atomic_int most;   /* peak of `inside` */
	atomic_int overlaps;
	atomic_int tokens_fell;
	_Atomic uint64_t last_token, last_writer;
	_Atomic int64_t count;
};

/* Map the arena of `dir`. Create the file if there is none. */
struct arena *arena_map(const char *dir);
void arena_unmap(struct arena *a);

void arena_enter(struct arena *a, int slot, enum arena_mode mode,
		 uint64_t token);
void arena_leave(struct arena *a, int slot);

#endif
