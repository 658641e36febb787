/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
	const char *name;
	int64_t ms;
} units[] = { { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } };

#define N_UNITS (sizeof(units) / sizeof(units[0]))

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number read by hand, because strtod() asks the locale which character is
 * the point, and rounds. */
struct decimal {
	int64_t whole;    /* INT64_MAX: too large */
	int64_t fraction; /* of `scale` */
	int64_t scale;
	int finer; /* more than nine digits behind the point */
};

/* Read a decimal; return the first byte behind the number, or NULL if there is
 * no number. */
static const char *read_decimal(const char *s, struct decimal *d)
{
	*d = (struct decimal){ .scale = 1 };
	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s); s++)
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		    __builtin_add_overflow(d->whole, *s - '0', &d->whole))
			d->whole = INT64_MAX;
	if (*s != '.')
		return s;
	s++;
	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s); s++) {
		if (d->scale == 1000000000) {
			d->finer |= *s != '0';
			continue;
		}
		d->fraction = d->fraction * 10 + (*s - '0');
		d->scale *= 10;
	}
	return s;
}

static int to_ms(const struct decimal *d, int64_t unit_ms, int64_t *ms)
{
	int64_t part = d->fraction * unit_ms;

	if (d->finer || part % d->scale != 0)
		return -1;
	if (__builtin_mul_overflow(d->whole, unit_ms, ms) ||
	    __builtin_add_overflow(*ms, part / d->scale, ms))
		*ms = INT64_MAX;
	return 0;
}

int dlki_duration_parse(const char *text, int64_t *ms, struct dlk_error *err)
{
	struct decimal d;
	const char *rest = read_decimal(text, &d);
	const struct unit *unit;

	if (!rest)
		return dlk_fail(err, DLOCK_EINVAL,
				"'%.40s' is not a duration; write 30s, 250ms, "
				"1.5m or 2h",
				text);
	unit = find_unit(*rest ? rest : "s");
	if (!unit)
		return dlk_fail(err, DLOCK_EINVAL,
				"'%.40s' has the unknown unit '%.20s'; use ms, "
				"s, m or h",
				text, rest);
	if (to_ms(&d, unit->ms, ms) < 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"'%.40s' is finer than a millisecond", text);
	return DLOCK_OK;
}

void dlki_duration_text(int64_t ms, char *out, size_t size)
{
	const struct unit *unit = units;

	while (ms == 0 ? unit->ms != 1 : ms % unit->ms != 0)
		unit++;
	snprintf(out, size, "%" PRId64 "%s", ms / unit->ms, unit->name);
}
