/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/behaviour.h"

#include <pthread.h>
#include <stdlib.h>

#define X(name) extern const struct lab_behaviour lab_behaviour_##name;
#include "lab_behaviours.inc"
#undef X

static const struct lab_behaviour *table[] = {
#define X(name) &lab_behaviour_##name,
#include "lab_behaviours.inc"
#undef X
	NULL,
};

#define COUNT (sizeof(table) / sizeof(table[0]) - 1)

static int by_place(const void *a, const void *b)
{
	const struct lab_behaviour *x = *(const struct lab_behaviour *const *)a;
	const struct lab_behaviour *y = *(const struct lab_behaviour *const *)b;

	return (x->place > y->place) - (x->place < y->place);
}

static void sort(void)
{
	qsort(table, COUNT, sizeof(struct lab_behaviour *), by_place);
}

const struct lab_behaviour *const *lab_behaviours(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, sort);
	return table;
}
