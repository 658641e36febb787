/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"
#include "lab/report/impl.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void lab_put_raw(struct lab_sheet *s, const char *text)
{
	if (fputs(text, s->out) < 0 && !s->error)
		s->error = errno ? errno : EIO;
}

static void put_bytes(struct lab_sheet *s, const char *bytes, size_t n)
{
	if (fwrite(bytes, 1, n, s->out) != n && !s->error)
		s->error = errno ? errno : EIO;
}

/* Return how many bytes the character has; 0: not UTF-8, or not allowed in a
 * document. */
static size_t character(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	uint32_t least, code = c[0];
	size_t n;

	if (code < 0x80)
		return code >= ' ' && code != 0x7f;
	if (code < 0xc2 || code > 0xf4)
		return 0;
	n = code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4;
	least = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
	code &= 0x7fU >> n;
	for (size_t i = 1; i < n; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3f);
	}
	if (code < least || code > 0x10ffff || code < 0xa0 ||
	    (code >= 0xd800 && code <= 0xdfff) || (code & 0xfffe) == 0xfffe)
		return 0;
	return n;
}

/* NULL: the character stands for itself. */
static const char *escape_of(const struct lab_sheet *s, char c)
{
	for (const struct lab_escape *e = s->escapes; e && e->text; e++)
		if (e->c == c)
			return e->text;
	return NULL;
}

static void put_text(struct lab_sheet *s, const char *text)
{
	char code[8];

	while (*text) {
		size_t n = character(text);
		const char *instead = n <= 1 ? escape_of(s, *text) : NULL;

		if (s->codes && (unsigned char)*text < ' ') {
			snprintf(code, sizeof(code), "\\u%04x",
				 (unsigned)*text);
			instead = code;
		}
		if (instead)
			lab_put_raw(s, instead);
		else if (n)
			put_bytes(s, text, n);
		else
			lab_put_raw(s, strchr("\t\r\n", *text) ? " " : "�");
		text += n ? n : 1;
	}
}

static void put_signed(struct lab_sheet *s, intmax_t value)
{
	char text[LAB_SHORT];

	snprintf(text, sizeof(text), "%jd", value);
	lab_put_raw(s, text);
}

static void put_unsigned(struct lab_sheet *s, uintmax_t value)
{
	char text[LAB_SHORT];

	snprintf(text, sizeof(text), "%ju", value);
	lab_put_raw(s, text);
}

static void put_tenths(struct lab_sheet *s, double value)
{
	char text[LAB_SHORT];
	long tenths;

	/* Drawings stay drawings whatever was measured. */
	tenths = fabs(value) < 1e6 ? lround(value * 10) : 0;
	snprintf(text, sizeof(text), "%s%ld", tenths < 0 ? "-" : "",
		 labs(tenths) / 10);
	lab_put_raw(s, text);
	if (tenths % 10) {
		snprintf(text, sizeof(text), ".%ld", labs(tenths) % 10);
		lab_put_raw(s, text);
	}
}

/* Print all digits, as in JSON, which has null for all but finite numbers. */
static void put_exact(struct lab_sheet *s, double value)
{
	char text[LAB_SHORT];
	char *comma;

	if (!isfinite(value)) {
		lab_put_raw(s, "null");
		return;
	}
	snprintf(text, sizeof(text), "%.17g", value);
	comma = strchr(text, ',');
	if (comma)
		*comma = '.';
	lab_put_raw(s, text);
	if (!strpbrk(text, ".e"))
		lab_put_raw(s, ".0");
}

/* The directives are standard, so that the compiler checks the arguments. */
void lab_put(struct lab_sheet *s, const char *format, ...)
{
	const char *plain = format;
	va_list args;

	va_start(args, format);
	while ((format = strchr(plain, '%')) != NULL) {
		put_bytes(s, plain, (size_t)(format - plain));
		plain = format + 2;
		switch (format[1]) {
		case 's':
			put_text(s, va_arg(args, const char *));
			break;
		case 'd':
			put_signed(s, va_arg(args, int));
			break;
		case 'z':
			put_unsigned(s, va_arg(args, size_t));
			plain++;
			break;
		case 'j':
			if (format[2] == 'u')
				put_unsigned(s, va_arg(args, uintmax_t));
			else
				put_signed(s, va_arg(args, intmax_t));
			plain++;
			break;
		case 'g':
			put_exact(s, va_arg(args, double));
			break;
		case 'f':
			put_tenths(s, va_arg(args, double));
			break;
		default:
			lab_put_raw(s, "%");
			break;
		}
	}
	va_end(args);
	lab_put_raw(s, plain);
}

int lab_sheet_end(struct lab_sheet *s)
{
	if (fflush(s->out) && !s->error)
		s->error = errno;
	if (!s->error && ferror(s->out))
		s->error = EIO;
	if (s->error)
		return lab_fail("the report cannot be written: %s",
				strerror(s->error));
	return 0;
}

const char *lab_say_short(char text[LAB_SHORT], const char *whole, size_t most)
{
	size_t at = 0, before = 0, shown = 0;

	while (whole[at] && shown < most && at < LAB_SHORT - 8) {
		size_t n = character(whole + at);

		if (++shown == most)
			before = at;
		at += n ? n : 1;
	}
	if (!whole[at]) {
		memcpy(text, whole, at + 1);
		return text;
	}
	if (shown < most)
		before = at;
	memcpy(text, whole, before);
	memcpy(text + before, "…", sizeof("…"));
	return text;
}
