/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/draw.h"

uint64_t chaos_draw(struct chaos_draw *d)
{
	uint64_t x = d->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

int64_t chaos_between(struct chaos_draw *d, int64_t min, int64_t max)
{
	uint64_t span = (uint64_t)(max - min) + 1;

	return min + (int64_t)(chaos_draw(d) % span);
}

bool chaos_chance(struct chaos_draw *d, int percent)
{
	return chaos_between(d, 0, 99) < percent;
}
