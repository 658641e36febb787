/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 31

const char *dlki_param_type(const struct dlk_param *p)
{
	switch (p->type) {
	case DLK_DURATION:
		return "duration";
	case DLK_NUMBER:
		return "number";
	case DLK_SWITCH:
		return "switch";
	case DLK_CHOICE:
		return "choice";
	case DLK_TEXT:
		return "text";
	default:
		return NULL;
	}
}

void dlki_param_range(const struct dlk_param *p, char *out, size_t size)
{
	char min[32], max[32];

	switch (p->type) {
	case DLK_DURATION:
		dlki_duration_text(p->min, min, sizeof(min));
		dlki_duration_text(p->max, max, sizeof(max));
		snprintf(out, size, "%s to %s", min, max);
		break;
	case DLK_NUMBER:
		snprintf(out, size, "%" PRId64 " to %" PRId64, p->min, p->max);
		break;
	case DLK_SWITCH:
		snprintf(out, size, "on|off");
		break;
	case DLK_CHOICE:
		snprintf(out, size, "%s", p->choices);
		break;
	default:
		snprintf(out, size, "%s", ""); /* a length is no range */
		break;
	}
}

static int check_range(const struct dlk_param *p, const char *text,
		       int64_t value, struct dlk_error *err)
{
	char range[80];

	if (value >= p->min && value <= p->max)
		return DLOCK_OK;
	dlki_param_range(p, range, sizeof(range));
	return dlk_fail(err, DLOCK_EINVAL, "'%.40s' is not in the range %s",
			text, range);
}

/* Parse a number.  Too large a number becomes the limit, which is in no range:
 * params.c and dlki_params_check() see to that. */
static int parse_number(const char *text, int64_t *out, struct dlk_error *err)
{
	const char *s = text + (text[0] == '-');
	int64_t value = 0;

	if (*s == '\0' || strspn(s, "0123456789") != strlen(s))
		return dlk_fail(err, DLOCK_EINVAL,
				"'%.40s' is not a whole number", text);
	for (; *s; s++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s - '0', &value))
			value = INT64_MAX;
	*out = text[0] == '-' ? -value : value;
	return DLOCK_OK;
}

static int parse_choice(const char *choices, const char *text, int64_t *out,
			struct dlk_error *err)
{
	size_t len = strlen(text);
	const char *s = choices;

	for (int64_t i = 0;; i++) {
		size_t n = strcspn(s, "|");

		if (n == len && memcmp(s, text, n) == 0) {
			*out = i;
			return DLOCK_OK;
		}
		if (s[n] == '\0')
			return dlk_fail(err, DLOCK_EINVAL,
					"'%.40s' is none of %s", text, choices);
		s += n + 1;
	}
}

static int check_length(const struct dlk_param *p, const char *text,
			struct dlk_error *err)
{
	int64_t len = (int64_t)strlen(text);

	if (len >= p->min && len <= p->max)
		return DLOCK_OK;
	return dlk_fail(err, DLOCK_EINVAL,
			"a text of %" PRId64 " bytes; it takes %" PRId64
			" to %" PRId64,
			len, p->min, p->max);
}

int dlki_param_parse(const struct dlk_param *p, const char *text, int64_t *out,
		     struct dlk_error *err)
{
	int rc;

	*out = 0;
	switch (p->type) {
	case DLK_DURATION:
		if (!p->def && strcmp(text, "none") == 0)
			return DLOCK_OK;
		rc = dlki_duration_parse(text, out, err);
		return rc < 0 ? rc : check_range(p, text, *out, err);
	case DLK_NUMBER:
		rc = parse_number(text, out, err);
		return rc < 0 ? rc : check_range(p, text, *out, err);
	case DLK_SWITCH:
		rc = parse_choice("on|off", text, out, err);
		*out = rc == DLOCK_OK && *out == 0;
		return rc;
	case DLK_CHOICE:
		return parse_choice(p->choices, text, out, err);
	default:
		return check_length(p, text, err);
	}
}

/* An empty choice could not be told from a forgotten value. */
static int choices_are_sound(const char *choices)
{
	return choices && choices[0] && choices[0] != '|' &&
	       !strstr(choices, "||") && choices[strlen(choices) - 1] != '|';
}

/* Is there a value in the range?  The ends of int64_t stand for numbers that
 * are too large.  A text's length and a duration are not negative. */
static int range_is_sound(const struct dlk_param *p)
{
	if (p->type == DLK_SWITCH || p->type == DLK_CHOICE)
		return 1;
	if (p->type != DLK_NUMBER && p->min < 0)
		return 0;
	return p->min <= p->max && p->min > -INT64_MAX && p->max < INT64_MAX;
}

static int is_listed(const struct dlk_param *table, const struct dlk_param *end,
		     const char *name)
{
	for (const struct dlk_param *p = table; p != end && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return 1;
	return 0;
}

static const char *param_flaw(const struct dlk_param *own,
			      const struct dlk_param *p)
{
	size_t len = strlen(p->name);

	if (len == 0 || len > NAME_MAX_BYTES ||
	    strspn(p->name, "abcdefghijklmnopqrstuvwxyz_") != len)
		return "a name is 1 to 31 of a-z and '_'";
	if (is_listed(dlki_common_params, NULL, p->name))
		return "every scheme has a parameter of this name";
	if (is_listed(own, p, p->name))
		return "it is listed twice";
	if (!dlki_param_type(p))
		return "there is no such type";
	if (strcmp(p->name, "password_file") == 0 && p->type != DLK_TEXT)
		return "it must be a text";
	if (p->type == DLK_CHOICE && !choices_are_sound(p->choices))
		return "its choices are not of the form a|b|c";
	if (!range_is_sound(p))
		return "its range is empty or too large";
	if (!p->text)
		return "it has no text";
	return NULL;
}

int dlki_params_check(const struct dlk_param *own, struct dlk_error *err)
{
	for (const struct dlk_param *p = own; p && p->name; p++) {
		const char *flaw = param_flaw(own, p);
		struct dlk_error why;
		int64_t value;

		if (flaw)
			return dlk_fail(err, DLOCK_EINVAL,
					"parameter '%.40s': %s", p->name, flaw);
		if (p->def && dlki_param_parse(p, p->def, &value, &why) < 0)
			return dlk_fail(err, DLOCK_EINVAL,
					"default of parameter '%s': %s",
					p->name, why.text);
	}
	return DLOCK_OK;
}
