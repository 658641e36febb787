/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/text.h"

#include <ctype.h>
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

/* A number of up to 19 digits, without a sign and without a leading zero. */
static int read_digits(const char *at, size_t len, uint64_t *out)
{
	if (len == 0 || len > 19 || (len > 1 && *at == '0'))
		return 0;
	*out = 0;
	for (size_t i = 0; i < len; i++) {
		if (at[i] < '0' || at[i] > '9')
			return 0;
		*out = *out * 10 + (uint64_t)(at[i] - '0');
	}
	return 1;
}

int rm_integer(struct rm_text t, int64_t *out)
{
	size_t sign = t.len > 0 && *t.s == '-';
	uint64_t n;

	if (!read_digits(t.s + sign, t.len - sign, &n) ||
	    n > (uint64_t)INT64_MAX + sign || (sign && n == 0))
		return 0;
	*out = sign ? (int64_t)-n : (int64_t)n;
	return 1;
}

/* Most numbers are integers that a double can hold, and strtod() takes ten
 * times as long. */
int rm_double(struct rm_text t, double *out)
{
	uint64_t n;
	char *end;

	if (read_digits(t.s, t.len, &n) && n <= UINT64_C(1) << 53) {
		*out = (double)n;
		return 1;
	}
	if (t.len == 0 || isspace((unsigned char)*t.s))
		return 0;
	*out = strtod(t.s, &end);
	return end == t.s + t.len && !isnan(*out);
}

size_t rm_print_integer(char out[RM_INTEGER_SIZE], int64_t n)
{
	char text[RM_INTEGER_SIZE];
	char *at = text + sizeof(text);
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	size_t len;

	*--at = '\0';
	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	if (n < 0)
		*--at = '-';
	len = (size_t)(text + sizeof(text) - at);
	memcpy(out, at, len);
	return len - 1;
}

/* An integer of 16 digits needs no exponent, and -0 has a sign. */
size_t rm_print_double(char out[RM_DOUBLE_SIZE], double d)
{
	if (d > -1e16 && d < 1e16 && !islessgreater(trunc(d), d) &&
	    (d < 0 || !signbit(d)))
		return rm_print_integer(out, (int64_t)d);
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
