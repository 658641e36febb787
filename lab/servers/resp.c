/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/servers/resp.h"
#include "lab/base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *line_end(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl + 1 : NULL;
}

const char *lab_resp_end(const char *p, const char *end)
{
	const char *next;
	long n;

	if (p >= end)
		return NULL;
	next = line_end(p, end);
	if (!next)
		return NULL;
	n = strtol(p + 1, NULL, 10);
	if (*p == '$' && n >= 0)
		return end - next >= n + 2 ? next + n + 2 : NULL;
	if (*p == '*')
		for (; n > 0 && next; n--)
			next = lab_resp_end(next, end);
	return next;
}

int lab_resp_text(const char *p, char *out, size_t size)
{
	const char *text = p + 1;
	long len = (long)strcspn(p + 1, "\r");

	if (*p == '-')
		return lab_fail("the server says: %.*s", (int)len, text);
	if (*p == '$') {
		text = strchr(p, '\n') + 1;
		len = strtol(p + 1, NULL, 10);
	} else if (*p == '*') {
		text = p;
		len = (long)strlen(p);
	}
	if (len < 0)
		len = 0;
	if (size)
		snprintf(out, size, "%.*s", (int)len, text);
	return 0;
}
