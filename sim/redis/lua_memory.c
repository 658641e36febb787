/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/lua_memory.h"

#include <string.h>
#include <sys/mman.h>

#include "sim/base/memory.h"

/* Blocks of STEP, 2 * STEP, ... SMALL bytes, then of powers of two.  The kernel
 * is asked for CHUNK bytes, or for a larger block. */
enum { STEP = 16, SMALL = 512, N_SMALL = SMALL / STEP, CHUNK = 1 << 18 };

struct block {
	struct block *next;
};

static struct block *unused[N_SMALL + 64]; /* by kind */
static char *chunk;
static size_t left; /* of the chunk */

/* `size` is more than 0. */
static size_t kind_of(size_t size)
{
	if (size <= SMALL)
		return (size - 1) / STEP;
	return N_SMALL + 63 - (size_t)__builtin_clzl(size - 1);
}

static size_t size_of(size_t kind)
{
	return kind < N_SMALL ? (kind + 1) * STEP :
				(size_t)2 << (kind - N_SMALL);
}

static void *from_kernel(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		sim_panic("out of memory");
	return p;
}

static void *take(size_t kind)
{
	size_t size = size_of(kind);
	struct block *b = unused[kind];

	if (b) {
		unused[kind] = b->next;
		return b;
	}
	if (size > CHUNK)
		return from_kernel(size);
	if (size > left) {
		chunk = from_kernel(CHUNK);
		left = CHUNK;
	}
	left -= size;
	return chunk + left;
}

static void give_back(void *p, size_t size)
{
	struct block *b = p;
	size_t kind = kind_of(size);

	b->next = unused[kind];
	unused[kind] = b;
}

void *rm_lua_memory(void *arg, void *old, size_t old_size, size_t size)
{
	void *new = NULL;

	(void)arg;
	if (old_size > 0 && size > 0 && kind_of(old_size) == kind_of(size))
		return old;
	if (size > 0)
		new = take(kind_of(size));
	if (new &&old)
		memcpy(new, old, old_size < size ? old_size : size);
	if (old)
		give_back(old, old_size);
	return new;
}
