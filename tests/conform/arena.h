/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lock protects, in memory that processes share.  It counts the times
 * that two workers were inside although they exclude each other, and that a
 * token fell; and the writers add to a count, which must not lose any.
 */
#ifndef DLOCK_TESTS_CONFORM_ARENA_H
#define DLOCK_TESTS_CONFORM_ARENA_H

#include <stdatomic.h>
#include <stdint.h>

enum { ARENA_SLOTS = 64 };
enum arena_mode { OUTSIDE, READING, WRITING };

/* All members are atomic, but `count` is read and written in two steps: only
 * the lock keeps it from losing some. */
struct arena {
	atomic_int slot[ARENA_SLOTS];   /* enum arena_mode */
	atomic_int doomed[ARENA_SLOTS]; /* about to be killed: not counted */
	atomic_int limit;               /* of those READING at once; 0: none */
	atomic_int inside;              /* with those that were killed */
	atomic_int most;                /* ever inside at once */
	atomic_int overlaps;
	atomic_int tokens_fell;
	_Atomic uint64_t last_token, last_writer;
	_Atomic int64_t count;
};

/* Map the one in `dir`, making it if there is none. */
struct arena *arena_map(const char *dir);
void arena_unmap(struct arena *a);

void arena_enter(struct arena *a, int slot, enum arena_mode mode,
		 uint64_t token);
void arena_leave(struct arena *a, int slot);

#endif
