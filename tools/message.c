/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"
#include "exits.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether the character changes the direction of text, ends a line, or is the
 * invisible mark at the beginning of a file. */
static int steers(unsigned int code)
{
	return code == 0x61c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/* Return the length of the character at `s` if it is UTF-8 in the shortest form
 * and may be shown, else 0. */
static size_t shown_bytes(const unsigned char *s)
{
	unsigned int least, code;
	size_t n;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		n = 2;
		least = 0xa0; /* leaves out the C1 controls */
		code = s[0] & 0x1fu;
	} else if (s[0] >= 0xe0 && s[0] <= 0xef) {
		n = 3;
		least = 0x800;
		code = s[0] & 0x0fu;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		n = 4;
		least = 0x10000;
		code = s[0] & 0x07u;
	} else {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	if (code < least || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff) || steers(code))
		return 0;
	return n;
}

size_t escape(char *out, size_t size, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)text;
	size_t used = 0, need = 0;

	while (*s) {
		char code[4] = { '\\', 'x', hex[*s >> 4], hex[*s & 15] };
		size_t n = shown_bytes(s);
		size_t len = n ? n : sizeof(code);

		if (used == need && need + len < size) {
			memcpy(out + used, n ? (const char *)s : code, len);
			used += len;
		}
		need += len;
		s += n ? n : 1;
	}
	if (size > 0)
		out[used] = '\0';
	return need;
}

static int patience_ms = -1;

void say_within(int ms)
{
	patience_ms = ms;
}

static void DLOCK_PRINTF(1, 0) vsay(const char *fmt, va_list args)
{
	struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };
	char raw[1024], line[2048] = "dlock: ";
	size_t start = strlen(line), len;

	if (vsnprintf(raw, sizeof(raw), fmt, args) < 0)
		return;
	escape(line + start, sizeof(line) - start - 1, raw);
	len = strlen(line);
	line[len++] = '\n';
	/* A lost standard error cannot be reported. */
	if (poll(&fd, 1, patience_ms) <= 0 || write(fd.fd, line, len) < 0)
		return;
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
}

int fail(int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
	return code;
}

int fail_dlock(int code)
{
	const char *text = dlock_errmsg();

	if (!text || !*text)
		text = dlock_strerror(code);
	return fail(exit_for(code), "%s", text);
}

/* Levenshtein's distance; words longer than a line of the matrix are far. */
static size_t distance(const char *a, const char *b)
{
	size_t row[33], n = strlen(b);

	if (n >= sizeof(row) / sizeof(row[0]))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			size_t least = corner + (a[i] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < least)
				least = row[j] + 1;
			if (row[j - 1] + 1 < least)
				least = row[j - 1] + 1;
			row[j] = least;
		}
	}
	return row[n];
}

const char *nearest(const char *typed, const char *const words[])
{
	const char *best = NULL;
	size_t least = strlen(typed) < 4 ? 2 : 3;

	for (size_t i = 0; words[i]; i++) {
		size_t d = distance(typed, words[i]);

		if (d < least) {
			least = d;
			best = words[i];
		}
	}
	return best;
}
