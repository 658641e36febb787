/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/nearest.h"

#include <string.h>

#define WORD_MAX 31

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Count by optimal string alignment.  After Damerau, "A technique for computer
 * detection and correction of spelling errors", 1964. */
static unsigned int aligned(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int d[WORD_MAX + 1][WORD_MAX + 1];

	for (unsigned int i = 0; i <= n; i++)
		d[i][0] = i;
	for (unsigned int j = 0; j <= m; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			unsigned int change = a[i - 1] != b[j - 1];

			d[i][j] = least(d[i - 1][j - 1] + change,
					least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

unsigned int dlki_distance(const char *a, const char *b)
{
	size_t n = strnlen(a, WORD_MAX + 1);
	size_t m = strnlen(b, WORD_MAX + 1);
	unsigned int distance;

	if (n > WORD_MAX || m > WORD_MAX)
		return DLKI_FAR;
	distance = aligned(a, n, b, m);
	return 3 * (size_t)distance <= (n > m ? n : m) ? distance : DLKI_FAR;
}
