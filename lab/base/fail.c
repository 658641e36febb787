/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TAIL 1500

static _Thread_local char message[512 + TAIL];

int(lab_fail)(const char *format, ...)
{
	/* An argument may be the last message itself. */
	char text[sizeof(message)];
	int saved = errno;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	memcpy(message, text, sizeof(message));
	errno = saved;
	return -1;
}

void lab_fail_tail(const char *path)
{
	FILE *f = fopen(path, "re");
	char tail[TAIL + 1];
	size_t len;

	if (!f)
		return;
	/* The seek fails in a file shorter than TAIL: read from the start. */
	if (fseek(f, -TAIL, SEEK_END) < 0)
		rewind(f);
	len = fread(tail, 1, TAIL, f);
	fclose(f);
	if (!len)
		return;
	tail[len] = '\0';
	lab_fail("%.500s; its log ends:\n%s", message, tail);
}

const char *lab_errmsg(void)
{
	return message;
}
