/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <string.h>

static int64_t unit_of(const char *text)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {
		{ "", 1000 },   { "ms", 1 },      { "s", 1000 },
		{ "m", 60000 }, { "h", 3600000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, text) == 0)
			return units[i].ms;
	return 0;
}

int parse_duration(const char *text, int64_t *out_ms)
{
	int64_t whole = 0, part = 0, scale = 1, unit_ms;
	int digits = 0, dot = 0, finer = 0;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !dot);
	     text++) {
		if (*text == '.') {
			dot = 1;
			continue;
		}
		digits++;
		if (!dot) {
			if (whole > INT64_MAX / 3600000 / 100)
				return 0;
			whole = whole * 10 + (*text - '0');
		} else if (scale < 1000000000) {
			part = part * 10 + (*text - '0');
			scale *= 10;
		} else {
			finer |= *text != '0';
		}
	}
	unit_ms = unit_of(text);
	if (!digits || !unit_ms)
		return 0;
	*out_ms = whole * unit_ms + (part * unit_ms + scale - 1) / scale;
	*out_ms += finer && part * unit_ms % scale == 0;
	return 1;
}

int parse_number(const char *text, uint32_t least, uint32_t most, uint32_t *out)
{
	uint64_t value = 0;

	if (!*text)
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > most)
			return 0;
	}
	*out = (uint32_t)value;
	return value >= least;
}
