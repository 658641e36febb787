/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A single write(), and no exit handlers, since other threads are running. */
void check_fail(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	char text[1024];
	va_list ap;
	int n;

	n = snprintf(text, sizeof(text) / 2, "%s:%d: ", base ? base + 1 : file,
		     line);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	dprintf(STDERR_FILENO, "%s\n", text);
	_exit(CHECK_FAILED);
}

void check_skip(const char *why)
{
	dprintf(STDERR_FILENO, "%s\n", why);
	_exit(CHECK_SKIPPED);
}

const char *check_code(int rc)
{
	return rc == DLOCK_OK ? "OK" : dlock_errname(rc);
}

void check_rc(const char *file, int line, const char *call, int got, int want)
{
	if (got == want)
		return;
	check_fail(file, line, "%s is %s (%d), not %s: %s", call,
		   check_code(got), got, check_code(want),
		   got < 0 ? dlock_errmsg() : "");
}

void check_text(const char *file, int line, const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		check_fail(file, line, "\"%s\" does not mention \"%s\"",
			   text ? text : "(null)", part);
}
