/* SPDX-License-Identifier: Apache-2.0 */
#include "core/owner.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MANY 20000

/* Replaces the C library's getrandom(), and fails as the test says. */
static enum { WORKS, SHORT, INTERRUPTED, NOTHING, FAILS } mode;
static atomic_uint calls;

ssize_t getrandom(void *buf, size_t size, unsigned int flags)
{
	unsigned int call = atomic_fetch_add(&calls, 1);

	if (mode == INTERRUPTED && call % 2 == 0) {
		errno = EINTR;
		return -1;
	}
	if (mode == NOTHING)
		return 0;
	if (mode == FAILS) {
		errno = ENOSYS;
		return -1;
	}
	if (mode == SHORT && size > 7)
		size = 7;
	return syscall(SYS_getrandom, buf, size, flags);
}

static struct dlki_owners pool;

static void begin(void)
{
	struct dlk_error err;

	cr_assert_eq(dlki_owners_init(&pool, &err), 0);
}

static void end(void)
{
	static const struct dlki_owners wiped;

	dlki_owners_destroy(&pool);
	cr_assert_eq(memcmp(&pool, &wiped, sizeof(pool)), 0);
}

TestSuite(owner, .init = begin, .fini = end);

static char id[DLKI_OWNER_SIZE];

static int by_text(const void *a, const void *b)
{
	return memcmp(a, b, DLKI_OWNER_SIZE);
}

Test(owner, no_two_are_the_same)
{
	static char ids[MANY][DLKI_OWNER_SIZE];
	struct dlki_owners other;

	cr_assert_eq(dlki_owners_init(&other, NULL), 0);
	for (size_t i = 0; i < MANY; i++)
		dlki_owner_new(i % 2 ? &pool : &other, ids[i]);
	qsort(ids, MANY, sizeof(ids[0]), by_text);
	for (size_t i = 1; i < MANY; i++)
		cr_assert_str_neq(ids[i - 1], ids[i]);
	dlki_owners_destroy(&other);
}

/* Each bit of 20,000 ids is set about half of the time, within 12 sigma. */
Test(owner, every_bit_is_used)
{
	int set[128] = { 0 };

	for (int i = 0; i < MANY; i++) {
		memset(id, 'x', sizeof(id));
		dlki_owner_new(&pool, id);
		cr_assert_eq(strlen(id), 32);
		cr_assert_eq(strspn(id, "0123456789abcdef"), 32);
		for (size_t bit = 0; bit < 128; bit++) {
			char c = id[bit / 4];
			int digit = c <= '9' ? c - '0' : c - 'a' + 10;

			set[bit] += digit >> (bit % 4) & 1;
		}
	}
	for (size_t bit = 0; bit < 128; bit++)
		cr_expect(set[bit] > MANY / 2 - 850 &&
				  set[bit] < MANY / 2 + 850,
			  "bit %zu: %d", bit, set[bit]);
}

/* Neither the ids given out nor the former key are in memory. */
Test(owner, what_was_given_is_forgotten)
{
	unsigned char key[sizeof(pool.key)];
	size_t used;

	memcpy(key, pool.key, sizeof(key));
	for (int i = 0; i < 100; i++) {
		dlki_owner_new(&pool, id);
		used = sizeof(pool.pool) - pool.left;
		for (size_t at = 0; at < used; at++)
			cr_expect_eq(pool.pool[at], 0);
	}
	cr_expect_arr_neq(pool.key, key, sizeof(key));
}

Test(owner, short_and_interrupted_reads_are_continued)
{
	static const unsigned char zero[8];

	for (mode = SHORT; mode <= INTERRUPTED; mode++) {
		struct dlki_owners o;

		memset(&o, 0, sizeof(o));
		errno = EXDEV;
		cr_assert_eq(dlki_owners_init(&o, NULL), 0);
		cr_expect_eq(errno, EXDEV);
		for (size_t i = 0; i < sizeof(o.key); i += sizeof(zero))
			cr_expect_neq(memcmp(o.key + i, zero, 8), 0);
		dlki_owners_destroy(&o);
	}
}

Test(owner, without_randomness_there_are_none)
{
	for (mode = NOTHING; mode <= FAILS; mode++) {
		struct dlki_owners o;
		struct dlk_error err;

		errno = EXDEV;
		cr_expect_eq(dlki_owners_init(&o, &err), DLOCK_ESYSTEM);
		cr_expect_eq(errno, EXDEV);
		cr_expect_eq(err.code, DLOCK_ESYSTEM);
		cr_expect_str_eq(err.text,
				 mode == FAILS ?
					 "getrandom: Function not implemented" :
					 "getrandom: no bytes");
	}
}

Test(owner, the_kernel_is_asked_once)
{
	unsigned int before = calls;

	mode = FAILS;
	for (int i = 0; i < 1000; i++)
		dlki_owner_new(&pool, id);
	cr_expect_eq(calls, before);
}

Test(owner, seeds_differ)
{
	uint64_t last = 0;

	for (int i = 0; i < 300; i++) {
		uint64_t seed = dlki_owner_seed(&pool);

		cr_assert_neq(seed, last);
		last = seed;
	}
}
