/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A type of RESP, and a number. */
static void put_number(struct sim_bytes *out, char type, int64_t n)
{
	char text[1 + RM_INTEGER_SIZE + 1];
	size_t len;

	*text = type;
	len = 1 + rm_print_integer(text + 1, n);
	memcpy(text + len, "\r\n", 2);
	sim_bytes_add(out, text, len + 2);
}

void rm_reply_status(struct sim_bytes *out, const char *text)
{
	sim_bytes_add(out, "+", 1);
	sim_bytes_text_add(out, text);
	sim_bytes_add(out, "\r\n", 2);
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
	sim_bytes_add(out, "\r\n", 2);
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
