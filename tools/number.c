/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

int parse_seconds(const char *text, int64_t *out_ms)
{
	int64_t ms = 0, unit = 1000, digit;
	int digits = 0, dot = 0, rest = 0;

	for (; *text; text++) {
		if (*text == '.' && !dot) {
			dot = 1;
			continue;
		}
		if (*text < '0' || *text > '9')
			return 0;
		digit = *text - '0';
		digits++;
		if (!dot) {
			if (ms > INT64_MAX / 100)
				return 0;
			ms = ms * 10 + digit * 1000;
		} else {
			unit /= 10;
			ms += digit * unit;
			rest |= !unit && digit;
		}
	}
	if (!digits)
		return 0;
	*out_ms = ms + rest;
	return 1;
}

int parse_number(const char *text, long least, long most, long *out)
{
	long value = 0;

	if (!*text)
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > most / 10)
			return 0;
		value = value * 10 + (*text - '0');
	}
	if (value < least || value > most)
		return 0;
	*out = value;
	return 1;
}
