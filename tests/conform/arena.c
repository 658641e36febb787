/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"

struct arena *arena_map(const char *dir)
{
	char path[PATH_MAX];
	struct arena *a;
	int fd;

	snprintf(path, sizeof(path), "%s/arena", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*a)) != 0)
		FAIL("%s: %s", path, strerror(errno));
	a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (a == MAP_FAILED)
		FAIL("mmap: %s", strerror(errno));
	close(fd);
	return a;
}

void arena_unmap(struct arena *a)
{
	munmap(a, sizeof(*a));
}

static void raise_to(_Atomic uint64_t *word, uint64_t value)
{
	uint64_t old = atomic_load(word);

	while (old < value && !atomic_compare_exchange_weak(word, &old, value))
		continue;
}

/* Of two workers inside at the same time, the later entrant sees the other.
 * Reading the slots in turn proves no more. */
static void count_conflicts(struct arena *a, int me, enum arena_mode mode)
{
	int readers = 0, writers = 0;

	for (int i = 0; i < ARENA_SLOTS; i++) {
		int other = atomic_load(&a->slot[i]);

		if (i == me || other == OUTSIDE || atomic_load(&a->doomed[i]))
			continue;
		if (other == WRITING)
			writers++;
		else
			readers++;
	}
	if (writers > 0 || (mode == WRITING && readers > 0))
		atomic_fetch_add(&a->overlaps, 1);
}

static void count_in(struct arena *a)
{
	int limit = atomic_load(&a->limit);
	int inside = atomic_fetch_add(&a->inside, 1) + 1;
	int most = atomic_load(&a->most);

	if (limit > 0 && inside > limit)
		atomic_fetch_add(&a->overlaps, 1);
	while (inside > most &&
	       !atomic_compare_exchange_weak(&a->most, &most, inside))
		continue;
}

static void check_token(struct arena *a, enum arena_mode mode, uint64_t token)
{
	const _Atomic uint64_t *before = mode == WRITING ? &a->last_token :
							   &a->last_writer;

	if (token == 0 || atomic_load(&a->limit) > 0)
		return;
	if (token <= atomic_load(before))
		atomic_fetch_add(&a->tokens_fell, 1);
	raise_to(&a->last_token, token);
	if (mode == WRITING)
		raise_to(&a->last_writer, token);
}

void arena_enter(struct arena *a, int slot, enum arena_mode mode,
		 uint64_t token)
{
	int64_t count = atomic_load(&a->count);

	atomic_store(&a->slot[slot], mode);
	count_in(a);
	count_conflicts(a, slot, mode);
	check_token(a, mode, token);
	sched_yield();
	if (mode == WRITING)
		atomic_store(&a->count, count + 1);
}

void arena_leave(struct arena *a, int slot)
{
	atomic_fetch_sub(&a->inside, 1);
	atomic_store(&a->slot[slot], OUTSIDE);
}
