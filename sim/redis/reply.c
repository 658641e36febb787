/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A type of RESP, and a number. */
static void put_number(struct sim_bytes *out, char type, int64_t n)
{
	char text[24];
	char *at = text + sizeof(text);
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;

	*--at = '\n';
	*--at = '\r';
	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	if (n < 0)
		*--at = '-';
	*--at = type;
	sim_bytes_add(out, at, (size_t)(text + sizeof(text) - at));
}

void rm_reply_status(struct sim_bytes *out, const char *text)
{
	sim_bytes_printf(out, "+%s\r\n", text);
}

void rm_reply_error(struct sim_bytes *out, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *c = text; *c; c++) {
		if (*c == '\r' || *c == '\n')
			*c = ' ';
	}
	sim_bytes_printf(out, "-%s\r\n", text);
}

void rm_reply_integer(struct sim_bytes *out, int64_t n)
{
	put_number(out, ':', n);
}

void rm_reply_text(struct sim_bytes *out, struct rm_text text)
{
	put_number(out, '$', (int64_t)text.len);
	sim_bytes_add(out, text.s, text.len);
	sim_bytes_text_add(out, "\r\n");
}

void rm_reply_word(struct sim_bytes *out, const char *word)
{
	rm_reply_text(out, (struct rm_text){ word, strlen(word) });
}

void rm_reply_double(struct sim_bytes *out, double d)
{
	char text[RM_DOUBLE_SIZE];

	rm_reply_text(out, (struct rm_text){ text, rm_print_double(text, d) });
}

void rm_reply_nil(struct sim_bytes *out)
{
	sim_bytes_text_add(out, "$-1\r\n");
}

void rm_reply_array(struct sim_bytes *out, size_t n)
{
	put_number(out, '*', (int64_t)n);
}
