/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/seeds.h"

#include <stdlib.h>

#include "sim/base/chance.h"

/* Other texts give other seeds. */
static uint64_t seed_of(const char *base)
{
	struct sim_chance c = { 0 };

	for (const char *at = base; *at; at++) {
		c.state ^= (unsigned char)*at;
		c.state = sim_next(&c);
	}
	return c.state >> 8;
}

struct sim_seeds sim_seeds_default(void)
{
	const char *base = getenv("DLOCK_SIM_BASE");

	if (!base || !*base)
		return (struct sim_seeds){ 1, 1, NULL };
	return (struct sim_seeds){ seed_of(base), 1, base };
}

int sim_seeds_read(struct sim_seeds *seeds, const char *text)
{
	uint64_t first, last;
	char *end;

	first = last = strtoull(text, &end, 10);
	if (end == text || *text == '-')
		return -1;
	if (*end == '-')
		last = strtoull(end + 1, &end, 10);
	if (*end || last < first)
		return -1;
	*seeds = (struct sim_seeds){ first, last - first + 1, NULL };
	return 0;
}
