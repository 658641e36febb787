/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/random.h"

static uint64_t next_number(struct chaos_random *r)
{
	uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

int64_t chaos_between(struct chaos_random *r, int64_t min, int64_t max)
{
	uint64_t span = (uint64_t)(max - min) + 1;

	return min + (int64_t)(next_number(r) % span);
}

bool chaos_chance(struct chaos_random *r, int percent)
{
	return chaos_between(r, 0, 99) < percent;
}
