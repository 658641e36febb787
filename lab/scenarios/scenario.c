/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scenario.h"

#include <pthread.h>
#include <stdlib.h>

#define X(name) extern const struct lab_scenario lab_scenario_##name;
#include "lab_scenarios.inc"
#undef X

static const struct lab_scenario *table[] = {
#define X(name) &lab_scenario_##name,
#include "lab_scenarios.inc"
#undef X
	NULL,
};

#define COUNT (sizeof(table) / sizeof(table[0]) - 1)

static int by_place(const void *a, const void *b)
{
	const struct lab_scenario *x = *(const struct lab_scenario *const *)a;
	const struct lab_scenario *y = *(const struct lab_scenario *const *)b;

	return (x->place > y->place) - (x->place < y->place);
}

static void sort_scenarios(void)
{
	qsort(table, COUNT, sizeof(struct lab_scenario *), by_place);
}

const struct lab_scenario *const *lab_scenarios(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, sort_scenarios);
	return table;
}
