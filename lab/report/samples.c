/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report/findings.h"

#include <math.h>
#include <stdlib.h>

/* Five decades of twelve steps each: readers ask for the tail. */
double lab_curve_at(size_t i)
{
	if (i + 1 >= LAB_CURVE)
		return 1;
	return 1 - pow(10, -(double)i / 12);
}

static int by_size(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

/* Return the least of the sorted values that `part` of them do not exceed. */
static double rank(const double *values, size_t n, double part)
{
	size_t i = (size_t)ceil(part * (double)n);

	return values[i ? (i < n ? i : n) - 1 : 0];
}

void lab_figure_samples(struct lab_figure *figure, double *values, size_t n)
{
	if (!figure || n == 0)
		return;
	qsort(values, n, sizeof(*values), by_size);
	figure->samples = n;
	figure->p50 = rank(values, n, 0.5);
	figure->p99 = rank(values, n, 0.99);
	figure->max = values[n - 1];
	figure->has_curve = n >= 20;
	for (size_t i = 0; figure->has_curve && i < LAB_CURVE; i++)
		figure->curve[i] = rank(values, n, lab_curve_at(i));
}
