/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int rm_compare(struct rm_text a, struct rm_text b)
{
	int c = memcmp(a.s, b.s, a.len < b.len ? a.len : b.len);

	if (c != 0)
		return c;
	return a.len < b.len ? -1 : a.len > b.len;
}

int rm_is(struct rm_text t, const char *word)
{
	return t.len == strlen(word) && strncasecmp(t.s, word, t.len) == 0;
}

int rm_integer(struct rm_text t, int64_t *out)
{
	char again[24];
	char *end;
	int n;

	if (t.len == 0 || t.len > 20 ||
	    (!isdigit((unsigned char)*t.s) && *t.s != '-'))
		return 0;
	errno = 0;
	*out = strtoll(t.s, &end, 10);
	if (errno != 0 || end != t.s + t.len)
		return 0;
	n = snprintf(again, sizeof(again), "%" PRId64, *out);
	return (size_t)n == t.len && memcmp(again, t.s, t.len) == 0;
}

int rm_double(struct rm_text t, double *out)
{
	char *end;

	if (t.len == 0 || isspace((unsigned char)*t.s))
		return 0;
	*out = strtod(t.s, &end);
	return end == t.s + t.len && !isnan(*out);
}

size_t rm_print_double(char out[RM_DOUBLE_SIZE], double d)
{
	if (isinf(d))
		return (size_t)snprintf(out, RM_DOUBLE_SIZE, "%s",
					d > 0 ? "inf" : "-inf");
	return (size_t)snprintf(out, RM_DOUBLE_SIZE, "%.17g", d);
}

int rm_matches(struct rm_text pattern, struct rm_text t)
{
	for (; pattern.len > 0; pattern.s++, pattern.len--, t.s++, t.len--) {
		if (*pattern.s == '*') {
			struct rm_text rest = { pattern.s + 1,
						pattern.len - 1 };

			for (;; t.s++, t.len--) {
				if (rm_matches(rest, t))
					return 1;
				if (t.len == 0)
					return 0;
			}
		}
		if (t.len == 0 || (*pattern.s != '?' && *pattern.s != *t.s))
			return 0;
	}
	return t.len == 0;
}
