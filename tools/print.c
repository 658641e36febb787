/* SPDX-License-Identifier: Apache-2.0 */
#include "print.h"
#include "exits.h"
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *escaped(const char *text)
{
	size_t size = escape(NULL, 0, text) + 1;
	char *copy = malloc(size);

	if (copy)
		escape(copy, size, text);
	return copy;
}

static int make_room(struct table *t)
{
	size_t room = t->room ? t->room * 2 : t->columns * 16;
	char **cells;

	if (t->used + t->columns <= t->room)
		return 1;
	cells = reallocarray(t->cells, room, sizeof(*cells));
	if (!cells)
		return 0;
	t->cells = cells;
	t->room = room;
	return 1;
}

void table_row(struct table *t, const char *first, ...)
{
	const char *text = first;
	va_list args;

	if (t->failed || !make_room(t)) {
		t->failed = 1;
		return;
	}
	va_start(args, first);
	for (size_t i = 0; i < t->columns; i++) {
		char *copy = escaped(text);

		t->cells[t->used + i] = copy;
		if (!copy)
			t->failed = 1;
		if (i + 1 < t->columns)
			text = va_arg(args, const char *);
	}
	va_end(args);
	t->used += t->columns;
}

/* Count characters, not bytes; a character of two columns is off by one. */
static size_t width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

int table_print(const struct table *t)
{
	size_t widest[TABLE_COLUMNS] = { 0 };

	if (t->failed)
		return fail(LEAVE_SYSTEM, "out of memory");
	for (size_t i = 0; i < t->used; i++) {
		size_t w = width(t->cells[i]);

		if (w > widest[i % t->columns])
			widest[i % t->columns] = w;
	}
	for (size_t i = 0; i < t->used; i++) {
		size_t column = i % t->columns;
		size_t pad = widest[column] - width(t->cells[i]) + 2;

		fputs(t->cells[i], stdout);
		if (column + 1 == t->columns)
			putchar('\n');
		else
			printf("%*s", (int)pad, "");
	}
	return finish_output(LEAVE_OK);
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < t->used; i++)
		free(t->cells[i]);
	free(t->cells);
}

json_t *json_text(const char *text)
{
	json_t *value = json_string(text);
	char *copy;

	if (value)
		return value;
	copy = escaped(text);
	if (!copy)
		return NULL;
	value = json_string(copy);
	free(copy);
	return value;
}

int json_print(json_t *value)
{
	int bad;

	if (!value)
		return fail(LEAVE_SYSTEM, "out of memory");
	bad = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	json_decref(value);
	if (bad && !ferror(stdout))
		return fail(LEAVE_SYSTEM, "out of memory");
	putchar('\n');
	return finish_output(LEAVE_OK);
}

int finish_output(int code)
{
	int failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) != EOF && !failed)
		return code;
	/* A reader that has seen enough closes the pipe: no message. */
	if (errno == EPIPE)
		return LEAVE_OUTPUT;
	return fail(LEAVE_OUTPUT, "cannot write the output: %s",
		    errno ? strerror(errno) : "an earlier write failed");
}
