/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/blocks.h"

#include <criterion/criterion.h>
#include <string.h>

#define SIZE 100
#define MANY 100

TestSuite(blocks);

static void *get_zeroed(struct dlki_blocks *b)
{
	static const unsigned char zeroes[SIZE];
	void *block = dlki_blocks_get(b, SIZE);

	cr_assert(block);
	cr_expect_arr_eq(block, zeroes, SIZE);
	return memset(block, 0xa5, SIZE);
}

Test(blocks, are_never_given_twice)
{
	struct dlki_blocks b = { 0 };
	void *block[MANY];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < MANY; i++) {
			block[i] = get_zeroed(&b);
			for (int j = 0; j < i; j++)
				cr_expect_neq(block[i], block[j]);
		}
		for (int i = 0; i < MANY; i++)
			dlki_blocks_put(&b, block[i]);
	}
	dlki_blocks_destroy(&b);
}

Test(blocks, are_kept_in_a_small_number)
{
	struct dlki_blocks b = { 0 };
	void *block[MANY];

	for (int i = 0; i < MANY; i++)
		block[i] = get_zeroed(&b);
	for (int i = 0; i < MANY; i++)
		dlki_blocks_put(&b, block[i]);
	cr_expect_leq(b.kept, 64);
	dlki_blocks_destroy(&b);
	cr_expect_null(b.first);
	cr_expect_eq(b.kept, 0);
}
